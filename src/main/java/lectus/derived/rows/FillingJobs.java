package lectus.derived.rows;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DerivedSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.ShardId;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.derived.Derived;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.store.Awaiting;

/**
 * Adds and removes indexes and stored feeds. A new one of a database with few documents has them at
 * once; any other is filled by a job. The caller's transaction also moves the database's version
 * key. So all later writers know the definition, and the job is about what was written until then.
 */
public final class FillingJobs {
  /** Number of documents that are filled in at once. */
  public static final int MAX_AT_ONCE = 200;

  /** The same for the size of all rows, in bytes. */
  private static final long MAX_BYTES_AT_ONCE = 500_000;

  private final JobsSubspace jobs;
  private final InstantSource clock;

  public FillingJobs(byte[] root) {
    this(root, InstantSource.system());
  }

  FillingJobs(byte[] root, InstantSource clock) {
    this.jobs = new JobsSubspace(root);
    this.clock = clock;
  }

  /**
   * @param rows of what is defined, which has no rows yet
   * @param documents all of the database that have rows; of many documents too many
   */
  public void define(
      Transaction tx, DatabaseHandle db, DerivedRows<?> rows, List<ChangeEntry> documents) {
    boolean isFilled =
        documents.size() <= MAX_AT_ONCE && rows.fillAtOnce(tx, documents, MAX_BYTES_AT_ONCE);
    DerivedSubspace definitions = new DerivedSubspace(db.prefix());
    for (Derived each : rows.all()) {
      definitions.put(tx, isFilled ? each.readable() : each);
      if (!isFilled) {
        begin(tx, db, each.number());
      }
    }
  }

  /** Begins a job, in the transaction that defines what it fills. */
  public void begin(Transaction tx, DatabaseHandle db, long number) {
    long documents = Awaiting.await(DatabaseCounters.entries(tx, db));
    new JobTasksSubspace(db).clear(tx, number);
    jobs.put(tx, db, number, clock.instant().getEpochSecond(), documents);
  }

  /**
   * Removes a definition and all rows. No write can still bring a row, as all conflict with the
   * change of the version key, and no job: its transactions conflict with the end of the job.
   */
  public void remove(Transaction tx, DatabaseHandle db, Derived derived) {
    new DerivedSubspace(db.prefix()).clear(tx, db.incarnation(), derived);
    RefusedSubspace.clearRows(tx, db, derived);
    new JobTasksSubspace(db).clear(tx, derived.number());
    jobs.clear(tx, db.instance(), derived.number());
  }

  /** Returns how far a job is; empty if there is none. Snapshot reads. */
  public Optional<Progress> progress(ReadTransaction tx, DatabaseHandle db, Derived derived) {
    CompletableFuture<Map<ShardId, TaskProgress>> tasks =
        new JobTasksSubspace(db).all(tx, derived.number());
    return Awaiting.await(
        jobs.get(tx.snapshot(), db.instance(), derived.number())
            .thenCombine(
                tasks,
                (job, begun) -> job.map(it -> new Progress(it, List.copyOf(begun.values())))));
  }

  public record Progress(Job job, Collection<TaskProgress> tasks) {
    private static final long PERCENT = 100;

    public long documents() {
      return tasks.stream().mapToLong(TaskProgress::documents).sum();
    }

    public long rows() {
      return tasks.stream().mapToLong(TaskProgress::rows).sum();
    }

    /** Returns the number of changes shards that are done. */
    public long tasksDone() {
      return tasks.stream().filter(TaskProgress::isDone).count();
    }

    /** Returns the number of changes shards that somebody works on. */
    public long tasksUnderway() {
      return tasks.stream().filter(it -> it.claim().isPresent()).count();
    }

    /** Returns how much of it is done. Less than all until it is over: its size is an estimate. */
    public long percent() {
      return Math.min(PERCENT - 1, PERCENT * documents() / Math.max(1, job.documents()));
    }

    /** Returns the documents looked at in a second, since the beginning. */
    public long documentsPerSecond(long nowSeconds) {
      return documents() / Math.max(1, nowSeconds - job.startedSeconds());
    }
  }
}
