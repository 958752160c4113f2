package lectus.document.job;

import com.apple.foundationdb.Transaction;
import java.util.List;
import java.util.Optional;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.database.ShardId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * One transaction of a task: some entries of its shard, what is filled of their documents, and how
 * far the task is then.
 */
final class TaskPage {
  private final JobTransaction jobs;
  private final TaskClaims claims;

  TaskPage(JobTransaction jobs, TaskClaims claims) {
    this.jobs = jobs;
    this.claims = claims;
  }

  /**
   * Run twice, it goes on where it ended.
   *
   * @param most number of documents
   * @return how far the task is then; empty if it is over, or another server performs it
   */
  Optional<TaskProgress> fill(Transaction tx, Job job, ShardId shard, int most) {
    return jobs.begin(tx, job).flatMap(target -> fill(tx, job, target, shard, most));
  }

  private Optional<TaskProgress> fill(
      Transaction tx, Job job, JobTransaction.Target target, ShardId shard, int most) {
    JobTasksSubspace tasks = new JobTasksSubspace(target.db());
    TaskProgress before = Awaiting.await(tasks.fenced(tx, job.kind(), job.number(), shard));
    if (!claims.isOurs(before)) {
      return Optional.empty();
    }
    List<ChangeEntry> entries = entries(tx, job, target, shard, before, most);
    guard(tx, target, entries);
    TaskProgress reached = before;
    if (!entries.isEmpty()) {
      long rows = target.filled().fill(tx, shard, entries);
      ChangeEntry last = entries.get(entries.size() - 1);
      reached = before.upTo(last.sequence(), entries.size(), rows);
    }
    TaskProgress after = claims.renewed(tx, entries.size() < most ? reached.done() : reached);
    tasks.put(tx, job.kind(), job.number(), shard, after);
    return Optional.of(after);
  }

  /** Releases the claim, so that another server can go on at once. */
  void giveBack(Transaction tx, Job job, ShardId shard) {
    Optional<JobTransaction.Target> target = jobs.begin(tx, job);
    if (target.isPresent()) {
      JobTasksSubspace tasks = new JobTasksSubspace(target.get().db());
      TaskProgress progress = Awaiting.await(tasks.fenced(tx, job.kind(), job.number(), shard));
      if (claims.isOurs(progress)) {
        tasks.put(tx, job.kind(), job.number(), shard, progress.givenBack());
      }
    }
  }

  /** Entries up to the definition: what was edited since has left this range, and is filled. */
  private static List<ChangeEntry> entries(
      Transaction tx,
      Job job,
      JobTransaction.Target target,
      ShardId shard,
      TaskProgress before,
      int most) {
    return Awaiting.await(
        new ChangesSubspace(target.db())
            .read(tx.snapshot(), shard, before.last(), Optional.of(job.until()), most, false));
  }

  /** A writer of one of the documents makes the transaction conflict. */
  private static void guard(
      Transaction tx, JobTransaction.Target target, List<ChangeEntry> entries) {
    RevisionsSubspace revisions = new RevisionsSubspace(target.db());
    entries.forEach(entry -> revisions.conflictWithEdits(tx, entry.docId()));
  }
}
