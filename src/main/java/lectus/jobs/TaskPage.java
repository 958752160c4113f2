package lectus.jobs;

import com.apple.foundationdb.Transaction;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangeEntry;
import lectus.changes.log.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
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
   * A page that was written.
   *
   * @param isCut whether it has fewer documents than it should, because they are large
   */
  record Written(HeldTask.Known known, int documents, boolean isCut) {}

  /**
   * What a page begins with. A store far away is asked once for all of it.
   *
   * @param entries those behind the last one of the expected progress
   */
  private record Beginning(
      HeldTask.Known expected,
      CompletableFuture<TaskProgress> progress,
      CompletableFuture<List<ChangeEntry>> entries) {

    boolean isOf(DatabaseHandle db) {
      return Arrays.equals(expected.db().prefix(), db.prefix());
    }

    boolean isBehind(TaskProgress progress) {
      return expected.progress().last().equals(progress.last());
    }
  }

  /**
   * Run twice, it goes on where it ended.
   *
   * @param most number of documents
   * @return empty if the task is over, or another server performs it
   */
  Optional<Written> fill(Transaction tx, HeldTask task, int most) {
    Beginning guess = begin(tx, task, task.known(), most);
    return jobs.begin(tx, task.job()).flatMap(target -> fill(tx, task, target, guess, most));
  }

  /** Entries up to the definition: what was edited since has left this range, and is filled. */
  private static Beginning begin(Transaction tx, HeldTask task, HeldTask.Known known, int most) {
    Job job = task.job();
    ShardId shard = task.shard();
    Optional<Sequence> until = Optional.of(job.until());
    return new Beginning(
        known,
        new JobTasksSubspace(known.db()).fenced(tx, job.kind(), job.number(), shard),
        new ChangesSubspace(known.db())
            .read(tx.snapshot(), shard, known.progress().last(), until, most, false));
  }

  private Optional<Written> fill(
      Transaction tx, HeldTask task, JobTransaction.Target target, Beginning guess, int most) {
    DatabaseHandle db = target.db();
    HeldTask.Known known = new HeldTask.Known(db, task.known().progress());
    Beginning beginning = guess.isOf(db) ? guess : begin(tx, task, known, most);
    TaskProgress before = Awaiting.await(beginning.progress);
    if (!claims.isOurs(before)) {
      return Optional.empty();
    }
    List<ChangeEntry> entries =
        Awaiting.await(
            beginning.isBehind(before)
                ? beginning.entries
                : begin(tx, task, new HeldTask.Known(db, before), most).entries);
    return Optional.of(fill(tx, task, target, before, entries, most));
  }

  private Written fill(
      Transaction tx,
      HeldTask task,
      JobTransaction.Target target,
      TaskProgress before,
      List<ChangeEntry> entries,
      int most) {
    Job job = task.job();
    Filling filling =
        entries.isEmpty()
            ? new Filling(0, 0)
            : target.filled().fill(tx, task.shard(), entries, task.ahead());
    List<ChangeEntry> done = entries.subList(0, filling.documents());
    guard(tx, target, done);
    boolean isCut = done.size() < entries.size();
    TaskProgress reached =
        done.isEmpty()
            ? before
            : before.upTo(done.get(done.size() - 1).sequence(), done.size(), filling.rows());
    boolean isDone = !isCut && entries.size() < most;
    TaskProgress after = claims.renewed(tx, isDone ? reached.done() : reached);
    new JobTasksSubspace(target.db()).put(tx, job.kind(), job.number(), task.shard(), after);
    return new Written(new HeldTask.Known(target.db(), after), done.size(), isCut);
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

  /** A writer of one of the documents makes the transaction conflict. */
  private static void guard(
      Transaction tx, JobTransaction.Target target, List<ChangeEntry> entries) {
    RevisionsSubspace revisions = new RevisionsSubspace(target.db());
    entries.forEach(entry -> revisions.conflictWithEdits(tx, entry.docId()));
  }
}
