package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import lectus.store.Awaiting;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The numbers that nothing gets a second time, of those that a database has given to its indexes
 * and stored feeds.
 *
 * <pre>
 * key    (prefix, NUMBERS, number of the subspace of definitions)
 * value  (format 1, the highest number of a definition that was removed)
 * </pre>
 *
 * The highest number of what is still there follows from the definitions. Definitions change in
 * transactions that conflict with each other, so the row is read and written without conflict
 * ranges.
 */
public final class NumbersSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A number of something removed");

  private final byte[] key;

  /**
   * @param definitions the subspace of the definitions that are numbered
   */
  NumbersSubspace(byte[] databasePrefix, DatabaseSubspace definitions) {
    this.key = DatabaseSubspace.NUMBERS.key(databasePrefix).integer(definitions.number()).toBytes();
  }

  /** Notes a number that is no longer in use. Tuples of integers sort as the integers do. */
  void retire(Transaction tx, long number) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.BYTE_MAX,
        key,
        new TupleWriter(16).integer(FORMAT.number()).integer(number).toBytes());
  }

  /**
   * Returns a number that was never given before.
   *
   * @param highest number in use; 0 without any
   */
  long next(Transaction tx, long highest) {
    byte[] value = Awaiting.await(tx.snapshot().get(key));
    return Math.max(highest, value == null ? 0 : decode(value)) + 1;
  }

  /**
   * Checks a row.
   *
   * @throws lectus.tuple.MalformedTupleException if it does not belong to this subspace
   */
  public static void check(byte[] databasePrefix, KeyValue row) {
    int offset = DatabaseSubspace.NUMBERS.key(databasePrefix).length();
    new TupleReader(row.getKey(), offset).only(TupleReader::smallInteger);
    decode(row.getValue());
  }

  static long decode(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::integer);
  }
}
