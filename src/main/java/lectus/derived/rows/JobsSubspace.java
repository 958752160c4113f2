package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * The jobs of all databases that are not done.
 *
 * <pre>
 * key    (root, JOBS, instance, number)
 * value  (format 1, name of the database, seconds since 1970, documents, Incarnation, Versionstamp)
 * </pre>
 *
 * The sequence is the last one of the transaction that began the job. A row may outlast its
 * database.
 */
public final class JobsSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A job");

  /** Higher than the number of any document in a transaction. */
  private static final int LAST_IN_TRANSACTION = 0xffff;

  private final byte[] root;

  public JobsSubspace(byte[] root) {
    this.root = root.clone();
  }

  public Range range() {
    return RootSubspace.JOBS.range(root);
  }

  /**
   * Returns the first rows.
   *
   * @param last only rows behind this key
   */
  CompletableFuture<List<KeyValue>> behind(ReadTransaction tx, Optional<byte[]> last, int limit) {
    byte[] begin = last.map(it -> Arrays.copyOf(it, it.length + 1)).orElse(range().begin);
    return tx.snapshot().getRange(begin, range().end, limit).asList();
  }

  public CompletableFuture<List<Job>> of(ReadTransaction tx, InstanceId instance) {
    Range all = Range.startsWith(RootSubspace.JOBS.key(root).string(instance.hex()).toBytes());
    return tx.getRange(all).asList().thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  /** Whether a job is still there, which the end of that job makes a conflict. */
  CompletableFuture<Boolean> has(Transaction tx, Job job) {
    byte[] key = key(job.instance(), job.number());
    return tx.get(key)
        .thenApply(value -> value != null && decode(new KeyValue(key, value)).equals(job));
  }

  CompletableFuture<Optional<Job>> get(ReadTransaction tx, InstanceId instance, long number) {
    byte[] key = key(instance, number);
    return tx.get(key)
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(new KeyValue(key, it))));
  }

  /**
   * @throws lectus.json.MalformedTupleException.NewerFormatException if a later version has begun
   *     the job
   */
  public Job decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.JOBS.key(root).length());
    InstanceId instance = new InstanceId(key.string());
    long number = key.only(TupleReader::integer);
    TupleReader value = FORMAT.reader(row.getValue());
    DatabaseName name = new DatabaseName(value.string());
    long started = value.integer();
    long documents = value.integer();
    Sequence begun = value.only(Sequence::readFrom);
    return new Job(instance, number, name, begun, started, documents);
  }

  void put(Transaction tx, DatabaseHandle db, long number, long startedSeconds, long documents) {
    TupleWriter value =
        new TupleWriter(64)
            .integer(FORMAT.number())
            .string(db.name().text())
            .integer(startedSeconds)
            .integer(documents)
            .integer(db.incarnation());
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        key(db.instance(), number),
        Versionstamp.template(value, LAST_IN_TRANSACTION));
  }

  void clear(Transaction tx, InstanceId instance, long number) {
    tx.clear(key(instance, number));
  }

  private byte[] key(InstanceId instance, long number) {
    return RootSubspace.JOBS.key(root).string(instance.hex()).integer(number).toBytes();
  }

  /**
   * A job as it is stored.
   *
   * @param number of what is filled, in its database
   * @param until the last sequence of the transaction that defined it. Whatever is written later is
   *     written by those who know the definition
   * @param startedSeconds since 1970
   * @param documents about how many there were then, deleted ones included
   */
  public record Job(
      InstanceId instance,
      long number,
      DatabaseName database,
      Sequence until,
      long startedSeconds,
      long documents) {}
}
