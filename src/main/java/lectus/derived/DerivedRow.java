package lectus.derived;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.json.TupleWriter;
import lectus.store.Versionstamp;

/**
 * A row of an index or a stored feed, to be written or cleared. Rows are written without conflict
 * ranges: the revisions subspace decides conflicts.
 *
 * @param value of a row that is cleared: what it may have had, if that is known
 */
public record DerivedRow(byte[] key, Optional<byte[]> value, Change change) {
  /** What becomes of a row; key or value may end with the versionstamp of the write. */
  public enum Change {
    SET,
    SET_STAMPED_KEY,
    SET_STAMPED_VALUE,
    CLEAR
  }

  public static DerivedRow cleared(byte[] key) {
    return new DerivedRow(key, Optional.empty(), Change.CLEAR);
  }

  public static DerivedRow set(byte[] key, byte[] value) {
    return new DerivedRow(key, Optional.of(value), Change.SET);
  }

  public boolean isCleared() {
    return change == Change.CLEAR;
  }

  /** Returns an upper bound of the bytes of key and value. */
  public long bytes() {
    return switch (change) {
      case CLEAR -> key.length;
      case SET -> key.length + value.orElseThrow().length;
      default -> key.length + value.orElseThrow().length + 2 * Versionstamp.LENGTH;
    };
  }

  /**
   * @param number of the document in its transaction
   */
  public void write(Transaction tx, int number) {
    tx.options().setNextWriteNoWriteConflictRange();
    switch (change) {
      case CLEAR -> tx.clear(key);
      case SET -> tx.set(key, value.orElseThrow());
      case SET_STAMPED_KEY ->
          tx.mutate(
              MutationType.SET_VERSIONSTAMPED_KEY,
              Versionstamp.template(new TupleWriter(key), number),
              value.orElseThrow());
      case SET_STAMPED_VALUE ->
          tx.mutate(
              MutationType.SET_VERSIONSTAMPED_VALUE,
              key,
              Versionstamp.template(new TupleWriter(value.orElseThrow()), number));
    }
  }
}
