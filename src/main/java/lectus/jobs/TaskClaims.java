package lectus.jobs;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseCounters;
import lectus.database.DatabaseHandle;
import lectus.database.ShardId;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeaseSubspace.Claim;

/**
 * Who performs a task. A claim lies in the task's row, which each transaction of the task reads and
 * writes; it is renewed thereby. Its age is measured in the store's versions.
 */
final class TaskClaims {
  /** About four seconds: how long a task stands still when its server dies. */
  static final long LIFE_VERSIONS = 4_000_000;

  private final byte[] holder = Lease.newHolder();

  /**
   * A task to perform.
   *
   * @param entries about how many entries its shard has
   */
  record Claimed(ShardId shard, String definedBy, HeldTask.Known known, long entries) {}

  /**
   * Claims some task that nobody performs.
   *
   * @param open as of the transaction's read version
   */
  Optional<Claimed> claimOne(
      Transaction tx, Job job, JobTransaction.Target target, List<OpenTasks.Open> open) {
    CompletableFuture<Long> now = tx.getReadVersion();
    List<OpenTasks.Open> free = new ArrayList<>(open);
    free.removeIf(it -> !isFree(it.progress(), Awaiting.await(now)));
    Collections.shuffle(free);
    return free.stream().findFirst().map(it -> claim(tx, job, target, it, Awaiting.await(now)));
  }

  private Claimed claim(
      Transaction tx, Job job, JobTransaction.Target target, OpenTasks.Open open, long now) {
    DatabaseHandle db = target.db();
    ShardId shard = open.shard();
    CompletableFuture<Long> entries =
        shard.isDeprecated()
            ? CompletableFuture.completedFuture(job.documents())
            : DatabaseCounters.entries(tx, db, shard);
    JobTasksSubspace tasks = new JobTasksSubspace(db);
    tasks.fence(tx, job.kind(), job.number(), shard);
    TaskProgress progress = open.progress().claimedBy(new Claim(holder, now));
    tasks.put(tx, job.kind(), job.number(), shard, progress);
    HeldTask.Known known = new HeldTask.Known(db, progress);
    return new Claimed(shard, target.filled().definedBy(), known, Awaiting.await(entries));
  }

  private boolean isFree(TaskProgress progress, long now) {
    return progress
        .claim()
        .filter(it -> !it.isOf(holder) && it.isYoungerThan(LIFE_VERSIONS, now))
        .isEmpty();
  }

  boolean isOurs(TaskProgress progress) {
    return !progress.isDone() && progress.claim().filter(it -> it.isOf(holder)).isPresent();
  }

  /** Returns the task's progress with the claim renewed; nothing if it is done. */
  TaskProgress renewed(Transaction tx, TaskProgress progress) {
    return progress.isDone()
        ? progress
        : progress.claimedBy(new Claim(holder, Awaiting.await(tx.getReadVersion())));
  }
}
