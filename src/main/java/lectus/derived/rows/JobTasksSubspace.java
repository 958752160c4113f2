package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.LeaseSubspace.Claim;

/**
 * The tasks of a database's jobs that have begun, one for each changes shard.
 *
 * <pre>
 * key    (prefix, JOB_TASKS, number, shard id)
 * value  (format 1, done, holder, read version, documents, rows[, Incarnation, Versionstamp])
 * </pre>
 *
 * The holder is 16 bytes, or none; the read version is that of the transaction that wrote the row.
 * The sequence is that of the last entry that was looked at. The row is the task's lease, too: each
 * transaction of the task conflicts with whoever wrote it before, and writes it. So a holder that
 * slept while another one took over commits nothing. The rows of a job end with it.
 */
public final class JobTasksSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A task of a job");
  private static final byte[] NOBODY = {};

  private final byte[] prefix;

  public JobTasksSubspace(DatabaseHandle db) {
    this.prefix = DatabaseSubspace.JOB_TASKS.key(db.prefix()).toBytes();
  }

  public Range range(long number) {
    return Range.startsWith(job(number).toBytes());
  }

  /** Returns a job's tasks that have begun. A snapshot read. */
  public CompletableFuture<Map<ShardId, TaskProgress>> all(ReadTransaction tx, long number) {
    int shardOffset = job(number).length();
    return tx.snapshot()
        .getRange(range(number))
        .asList()
        .thenApply(
            rows -> {
              Map<ShardId, TaskProgress> all = new LinkedHashMap<>();
              for (KeyValue row : rows) {
                ShardId shard =
                    new ShardId(
                        new TupleReader(row.getKey(), shardOffset).only(TupleReader::string));
                all.put(shard, progress(row.getValue()));
              }
              return all;
            });
  }

  /** Reads one task, to be written: whoever writes it before makes a conflict. */
  CompletableFuture<TaskProgress> fenced(Transaction tx, long number, ShardId shard) {
    fence(tx, number, shard);
    return tx.snapshot()
        .get(key(number, shard))
        .thenApply(value -> value == null ? TaskProgress.NONE : progress(value));
  }

  /** The same of a task that was read at the transaction's read version. */
  void fence(Transaction tx, long number, ShardId shard) {
    tx.addReadConflictKey(key(number, shard));
  }

  void put(Transaction tx, long number, ShardId shard, TaskProgress progress) {
    Optional<Claim> claim = progress.claim();
    TupleWriter value =
        new TupleWriter(64)
            .integer(FORMAT.number())
            .bool(progress.isDone())
            .bytes(claim.map(Claim::holder).orElse(NOBODY))
            .integer(claim.map(Claim::version).orElse(0L))
            .integer(progress.documents())
            .integer(progress.rows());
    progress.last().ifPresent(it -> it.writeTo(value));
    tx.set(key(number, shard), value.toBytes());
  }

  void clear(Transaction tx, long number) {
    tx.clear(range(number));
  }

  /** Describes the task of a row, for the auditor. */
  public Task decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    long number = key.integer();
    return new Task(number, new ShardId(key.only(TupleReader::string)), progress(row.getValue()));
  }

  public record Task(long number, ShardId shard, TaskProgress progress) {}

  private static TaskProgress progress(byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    boolean isDone = value.bool();
    byte[] holder = value.bytes();
    long version = value.integer();
    Optional<Claim> claim =
        Optional.of(new Claim(holder, version)).filter(it -> it.holder().length > 0);
    long documents = value.integer();
    long rows = value.integer();
    Optional<Sequence> last =
        value.hasNext() ? Optional.of(Sequence.readFrom(value)) : Optional.empty();
    value.end();
    return new TaskProgress(isDone, claim, documents, rows, last);
  }

  private byte[] key(long number, ShardId shard) {
    return job(number).string(shard.text()).toBytes();
  }

  private TupleWriter job(long number) {
    return new TupleWriter(prefix).integer(number);
  }

  /**
   * How far the task of one changes shard is.
   *
   * @param isDone whether all entries that the job is about have been looked at
   * @param claim who performs it; empty if nobody does
   * @param last the last entry that was looked at
   */
  public record TaskProgress(
      boolean isDone, Optional<Claim> claim, long documents, long rows, Optional<Sequence> last) {
    static final TaskProgress NONE =
        new TaskProgress(false, Optional.empty(), 0, 0, Optional.empty());

    /** Whether an entry has been looked at. */
    public boolean hasPassed(Sequence sequence) {
      return isDone || last.filter(it -> sequence.compareTo(it) <= 0).isPresent();
    }

    TaskProgress claimedBy(Claim holder) {
      return new TaskProgress(isDone, Optional.of(holder), documents, rows, last);
    }

    TaskProgress givenBack() {
      return new TaskProgress(isDone, Optional.empty(), documents, rows, last);
    }

    TaskProgress done() {
      return new TaskProgress(true, Optional.empty(), documents, rows, last);
    }

    TaskProgress upTo(Sequence sequence, long moreDocuments, long moreRows) {
      return new TaskProgress(
          isDone, claim, documents + moreDocuments, rows + moreRows, Optional.of(sequence));
    }
  }
}
