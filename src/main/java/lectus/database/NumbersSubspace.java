package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;
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
 * key    (prefix, NUMBERS, number of the subspace of definitions, name)
 * value  (format 1, Versionstamp): when a definition of this name was removed last; under the empty
 *        name: the same of all names that are not remembered any more
 * </pre>
 *
 * The highest number of what is still there follows from the definitions. Definitions change in
 * transactions that conflict with each other, so the row is read and written without conflict
 * ranges.
 */
public final class NumbersSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A number of something removed");

  /** Number of names of which it is remembered when their definitions were removed. */
  static final int MAX_NAMES = 100;

  /** No definition has this name. */
  private static final String FORGOTTEN = "";

  private static final int AFTER = 0xff;

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
    TupleReader key = new TupleReader(row.getKey(), offset);
    key.smallInteger();
    if (key.hasNext()) {
      key.only(TupleReader::string);
      removedAt(row.getValue());
    } else {
      decode(row.getValue());
    }
  }

  /** Notes that a definition of this name is removed by the transaction. */
  void remove(Transaction tx, String name) {
    forgetTooMany(tx);
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        nameKey(name),
        Versionstamp.template(new TupleWriter(16).integer(FORMAT.number()), 0));
  }

  /** The names that were removed first are forgotten first. */
  private void forgetTooMany(Transaction tx) {
    byte[] first = TupleWriter.startingWith(nameKey(FORGOTTEN)).octet(0).toBytes();
    byte[] end = TupleWriter.startingWith(key).octet(AFTER).toBytes();
    List<KeyValue> names =
        new ArrayList<>(Awaiting.await(tx.snapshot().getRange(first, end).asList()));
    names.sort(Comparator.comparing(row -> removedAt(row.getValue())));
    for (KeyValue row : names.subList(0, Math.max(0, names.size() + 1 - MAX_NAMES))) {
      tx.options().setNextWriteNoWriteConflictRange();
      tx.clear(row.getKey());
      tx.options().setNextWriteNoWriteConflictRange();
      tx.set(nameKey(FORGOTTEN), row.getValue());
    }
  }

  /**
   * Returns when a definition of this name was removed last; of a name that is not remembered, when
   * that may have been. ZERO if none was.
   */
  CompletableFuture<Versionstamp> removedAt(ReadTransaction tx, String name) {
    return tx.snapshot()
        .get(nameKey(name))
        .thenCombine(
            tx.snapshot().get(nameKey(FORGOTTEN)), (own, other) -> own == null ? other : own)
        .thenApply(value -> value == null ? Versionstamp.ZERO : removedAt(value));
  }

  static Versionstamp removedAt(byte[] value) {
    return new Versionstamp(FORMAT.reader(value).only(TupleReader::versionstamp));
  }

  private byte[] nameKey(String name) {
    return TupleWriter.startingWith(key).string(name).toBytes();
  }

  static long decode(byte[] value) {
    return FORMAT.reader(value).only(TupleReader::integer);
  }
}
