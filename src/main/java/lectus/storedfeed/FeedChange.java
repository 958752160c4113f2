package lectus.storedfeed;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.store.Versionstamp;
import lectus.tuple.TupleWriter;

/**
 * A row of a stored feed to write or to clear.
 *
 * @param value empty: the row is cleared
 * @param stamped what ends with the versionstamp of the write
 */
public record FeedChange(byte[] key, Optional<byte[]> value, Stamped stamped) {
  /** A part of a row. */
  public enum Stamped {
    NOTHING,
    KEY,
    VALUE
  }

  static FeedChange cleared(byte[] key) {
    return new FeedChange(key, Optional.empty(), Stamped.NOTHING);
  }

  static FeedChange set(byte[] key, byte[] value) {
    return new FeedChange(key, Optional.of(value), Stamped.NOTHING);
  }

  /** Returns an upper bound of the bytes of key and value. */
  public long bytes() {
    int stamp = stamped == Stamped.NOTHING ? 0 : 2 * Versionstamp.LENGTH;
    return key.length + value.map(it -> it.length).orElse(0) + stamp;
  }

  /**
   * @param number of the document in its transaction
   */
  public void write(Transaction tx, int number) {
    tx.options().setNextWriteNoWriteConflictRange();
    switch (stamped) {
      case NOTHING -> value.ifPresentOrElse(it -> tx.set(key, it), () -> tx.clear(key));
      case KEY ->
          tx.mutate(
              MutationType.SET_VERSIONSTAMPED_KEY,
              Versionstamp.template(TupleWriter.startingWith(key), number),
              value.orElseThrow());
      case VALUE ->
          tx.mutate(
              MutationType.SET_VERSIONSTAMPED_VALUE,
              key,
              Versionstamp.template(TupleWriter.startingWith(value.orElseThrow()), number));
    }
  }
}
