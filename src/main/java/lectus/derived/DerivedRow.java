package lectus.derived;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import lectus.store.Versionstamp;
import lectus.tuple.TupleWriter;

/**
 * A row of an index or a stored feed, to be written or cleared. Rows are written without conflict
 * ranges: the revisions subspace decides conflicts.
 *
 * @param value empty: the row is cleared
 * @param stamped what ends with the versionstamp of the write
 */
public record DerivedRow(byte[] key, Optional<byte[]> value, Stamped stamped) {
  /** A part of a row. */
  public enum Stamped {
    NOTHING,
    KEY,
    VALUE
  }

  public static DerivedRow cleared(byte[] key) {
    return new DerivedRow(key, Optional.empty(), Stamped.NOTHING);
  }

  public static DerivedRow set(byte[] key, byte[] value) {
    return new DerivedRow(key, Optional.of(value), Stamped.NOTHING);
  }

  public boolean isCleared() {
    return value.isEmpty();
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
