package lectus.jobs;

import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;

/** What all transactions of a job begin with: whether it is still wanted, and what it fills. */
final class JobTransaction {
  private final Catalogue catalogue;
  private final JobsSubspace jobs;
  private final Map<JobKind, FilledKind> kinds;

  JobTransaction(Catalogue catalogue, byte[] root, List<FilledKind> kinds) {
    this.catalogue = catalogue;
    this.jobs = new JobsSubspace(root);
    this.kinds = kinds.stream().collect(Collectors.toMap(FilledKind::kind, it -> it));
  }

  /** Whether this server knows what such jobs fill. */
  boolean knows(Job job) {
    return kinds.containsKey(job.kind());
  }

  /** What a job fills, in a transaction that conflicts with whoever ends the job. */
  record Target(DatabaseHandle db, Filled filled) {}

  /**
   * @return empty if the job is over, and then it is also removed from the list
   */
  Optional<Target> begin(Transaction tx, Job job) {
    CompletableFuture<Boolean> isThere = jobs.has(tx, job);
    Optional<DatabaseHandle> db = database(tx, job);
    FilledKind kind = kinds.get(job.kind());
    if (!Awaiting.await(isThere)) {
      return Optional.empty();
    }
    Optional<Target> target =
        db.flatMap(it -> kind.find(it, job.number()).map(filled -> new Target(it, filled)));
    if (target.isEmpty()) {
      remove(tx, job, db);
    }
    return target;
  }

  private void remove(Transaction tx, Job job, Optional<DatabaseHandle> db) {
    db.ifPresent(it -> new JobTasksSubspace(it).clear(tx, job.kind(), job.number()));
    jobs.clear(tx, job.instance(), job.kind(), job.number());
  }

  /** All tasks are done: what was filled becomes readable. */
  void complete(Transaction tx, Job job, Target target) {
    target.filled().becomeReadable(tx);
    remove(tx, job, Optional.of(target.db()));
    catalogue.moveVersion(tx, target.db());
  }

  private Optional<DatabaseHandle> database(Transaction tx, Job job) {
    try {
      return Optional.of(catalogue.currentForWrites(tx, job.database()))
          .filter(db -> db.instance().equals(job.instance()));
    } catch (LectusException gone) {
      if (gone.error() instanceof LectusError.NotFound) {
        return Optional.empty();
      }
      throw gone;
    }
  }
}
