package lectus.mango.index;

import com.apple.foundationdb.Transaction;
import java.util.Optional;

/**
 * A row of an index to write or to clear.
 *
 * @param value empty: the row is cleared
 */
public record EntryChange(byte[] key, Optional<byte[]> value) {
  /** Returns the bytes of key and value. */
  public long bytes() {
    return key.length + value.map(it -> it.length).orElse(0);
  }

  EntryChange cleared() {
    return new EntryChange(key, Optional.empty());
  }

  public void write(Transaction tx) {
    tx.options().setNextWriteNoWriteConflictRange();
    value.ifPresentOrElse(it -> tx.set(key, it), () -> tx.clear(key));
  }
}
