package lectus.jobs;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseCounters;
import lectus.database.DatabaseHandle;
import lectus.database.ShardId;
import lectus.store.Awaiting;

/** The jobs of a store, for those who define what is to be filled. */
public final class FillingJobs {
  private final JobsSubspace jobs;
  private final InstantSource clock;

  /**
   * @param root the prefix of the store's keys
   */
  public FillingJobs(byte[] root) {
    this(root, InstantSource.system());
  }

  FillingJobs(byte[] root, InstantSource clock) {
    this.jobs = new JobsSubspace(root);
    this.clock = clock;
  }

  /**
   * Begins a job, in the transaction that defines what it fills. That transaction also moves the
   * database's version key. So all later writers know the definition, and the job is about what was
   * written until then.
   */
  public void begin(Transaction tx, DatabaseHandle db, JobKind kind, long number) {
    long documents = Awaiting.await(DatabaseCounters.entries(tx, db));
    new JobTasksSubspace(db).clear(tx, kind, number);
    jobs.put(tx, db, kind, number, clock.instant().getEpochSecond(), documents);
  }

  /** Ends a job, in the transaction that removes what it fills. No page of it is written later. */
  public void end(Transaction tx, DatabaseHandle db, JobKind kind, long number) {
    new JobTasksSubspace(db).clear(tx, kind, number);
    jobs.clear(tx, db.instance(), kind, number);
  }

  /** Returns how far a job is; empty if there is none. A snapshot read. */
  public CompletableFuture<Optional<JobProgress>> progress(
      ReadTransaction tx, DatabaseHandle db, JobKind kind, long number) {
    CompletableFuture<Map<ShardId, TaskProgress>> tasks =
        new JobTasksSubspace(db).all(tx, kind, number);
    return jobs.get(tx.snapshot(), db.instance(), kind, number)
        .thenCombine(tasks, (job, begun) -> job.map(it -> JobProgress.of(it, begun.values())));
  }
}
