package lectus.derived.rows;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DerivedSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.derived.Derived;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.document.ReadAhead;
import lectus.document.read.DocumentsAhead;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeaseSubspace.Claim;

/**
 * The transactions of jobs: a task is claimed, gone through page by page, and given back; a job
 * without an open task makes readable what it filled. Each begins with whether the job is still
 * wanted, and conflicts with whoever ends the job.
 *
 * <p>A task's claim lies in the task's row, which each transaction of the task reads and writes; it
 * is renewed thereby. Its age is measured in the store's versions.
 */
final class JobTransactions {
  /** About four seconds: how long a task stands still when its server dies. */
  static final long LIFE_VERSIONS = 4_000_000;

  private final Catalogue catalogue;
  private final JobsSubspace jobs;
  private final DerivedRows.Kinds kinds;
  private final byte[] holder = Lease.newHolder();

  JobTransactions(Catalogue catalogue, byte[] root, DerivedRows.Kinds kinds) {
    this.catalogue = catalogue;
    this.jobs = new JobsSubspace(root);
    this.kinds = kinds;
  }

  /** A task that this server performs. */
  static final class Held {
    private final Job job;
    private final ShardId shard;
    private final RunningTask shown;
    private final ReadAhead ahead = DocumentsAhead.learning();
    private Known known;

    Held(Job job, Claimed claimed, RunningTask shown) {
      this.job = job;
      this.shard = claimed.shard;
      this.shown = shown;
      know(claimed.known);
    }

    Job job() {
      return job;
    }

    boolean isDone() {
      return known.progress.isDone();
    }

    void know(Known now) {
      known = now;
      shown.advance(now.progress.documents() - shown.done());
    }

    void close() {
      shown.close();
    }
  }

  /**
   * What the next page of a task begins with, most probably.
   *
   * @param db as of the last page
   */
  record Known(DatabaseHandle db, TaskProgress progress) {}

  /**
   * A task to perform.
   *
   * @param entries about how many entries its shard has
   */
  record Claimed(ShardId shard, Derived filled, Known known, long entries) {}

  /** What became of a job that was looked at. */
  record Look(boolean isOver, Optional<Claimed> claimed) {
    private static final Look OVER = new Look(true, Optional.empty());
  }

  /**
   * A page that was written.
   *
   * @param isCut whether it has fewer documents than it should, because they are large
   */
  record Written(Known known, int documents, boolean isCut) {}

  /** What a job fills. */
  private record Target(DatabaseHandle db, Derived filled) {}

  /** A task that is not done. */
  private record Open(ShardId shard, TaskProgress progress) {}

  /** Returns empty if the job is over, and then it is also removed from the list. */
  private Optional<Target> begin(Transaction tx, Job job) {
    CompletableFuture<Boolean> isThere = jobs.has(tx, job);
    Optional<DatabaseHandle> db = database(tx, job);
    if (!Awaiting.await(isThere)) {
      return Optional.empty();
    }
    Optional<Target> target =
        db.flatMap(
            it ->
                it.derived().stream()
                    .filter(filled -> filled.number() == job.number() && !filled.isReadable())
                    .findFirst()
                    .map(filled -> new Target(it, filled)));
    if (target.isEmpty()) {
      remove(tx, job, db);
    }
    return target;
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

  private void remove(Transaction tx, Job job, Optional<DatabaseHandle> db) {
    db.ifPresent(it -> new JobTasksSubspace(it).clear(tx, job.number()));
    jobs.clear(tx, job.instance(), job.number());
  }

  /** Claims some task that nobody performs. A job whose tasks are all done ends. */
  Look look(Transaction tx, Job job) {
    Optional<Target> begun = begin(tx, job);
    if (begun.isEmpty()) {
      return Look.OVER;
    }
    Target target = begun.get();
    List<Open> open = openTasks(tx, target.db, job);
    if (open.isEmpty()) {
      new DerivedSubspace(target.db.prefix()).put(tx, target.filled.readable());
      remove(tx, job, Optional.of(target.db));
      catalogue.moveVersion(tx, target.db);
      return Look.OVER;
    }
    long now = Awaiting.await(tx.getReadVersion());
    List<Open> free = new ArrayList<>(open);
    free.removeIf(it -> !isFree(it.progress, now));
    Collections.shuffle(free);
    return new Look(false, free.stream().findFirst().map(it -> claim(tx, job, target, it, now)));
  }

  /**
   * Returns the tasks that are not done: one for each changes shard that has entries, of each
   * generation that began before the job. Snapshot reads: what is done stays done for as long as
   * the job is there.
   *
   * <p>Nothing is stored of a task before it begins. So resharding needs not know of jobs: what a
   * later generation has was written by those who keep what is filled; an older generation that is
   * empty has nothing to fill, whether it is still described or not, and stays empty.
   */
  private static List<Open> openTasks(Transaction tx, DatabaseHandle db, Job job) {
    CompletableFuture<Set<ShardId>> filled = DatabaseCounters.filledShards(tx, db);
    Map<ShardId, TaskProgress> begun =
        Awaiting.await(new JobTasksSubspace(db).all(tx, job.number()));
    List<Open> open = new ArrayList<>();
    for (Generation generation : db.topology().generations()) {
      boolean isLater = generation.since().filter(it -> it.compareTo(job.until()) > 0).isPresent();
      for (ShardId shard : isLater ? List.<ShardId>of() : generation.shards()) {
        TaskProgress progress = begun.getOrDefault(shard, TaskProgress.NONE);
        if (!progress.isDone() && Awaiting.await(filled).contains(shard)) {
          open.add(new Open(shard, progress));
        }
      }
    }
    return open;
  }

  private Claimed claim(Transaction tx, Job job, Target target, Open open, long now) {
    DatabaseHandle db = target.db;
    CompletableFuture<Long> entries =
        open.shard.isDeprecated()
            ? CompletableFuture.completedFuture(job.documents())
            : DatabaseCounters.entries(tx, db, open.shard);
    JobTasksSubspace tasks = new JobTasksSubspace(db);
    tasks.fence(tx, job.number(), open.shard);
    TaskProgress progress = open.progress.claimedBy(new Claim(holder, now));
    tasks.put(tx, job.number(), open.shard, progress);
    return new Claimed(open.shard, target.filled, new Known(db, progress), Awaiting.await(entries));
  }

  private boolean isFree(TaskProgress progress, long now) {
    return progress
        .claim()
        .filter(it -> !it.isOf(holder) && it.isYoungerThan(LIFE_VERSIONS, now))
        .isEmpty();
  }

  private boolean isOurs(TaskProgress progress) {
    return !progress.isDone() && progress.claim().filter(it -> it.isOf(holder)).isPresent();
  }

  /**
   * What a page begins with. A store far away is asked once for all of it.
   *
   * @param entries those behind the last one of the expected progress
   */
  private record Beginning(
      Known expected,
      CompletableFuture<TaskProgress> progress,
      CompletableFuture<List<ChangeEntry>> entries) {}

  /** Entries up to the definition: what was edited since has left this range, and is filled. */
  private static Beginning begin(Transaction tx, Held task, Known known, int most) {
    return new Beginning(
        known,
        new JobTasksSubspace(known.db).fenced(tx, task.job.number(), task.shard),
        new ChangesSubspace(known.db)
            .read(
                tx.snapshot(),
                task.shard,
                known.progress.last(),
                Optional.of(task.job.until()),
                most,
                false));
  }

  /**
   * Fills some entries of a task's shard, and notes how far the task is then. Run twice, it goes on
   * where it ended.
   *
   * @param most number of documents
   * @return empty if the task is over, or another server performs it
   */
  Optional<Written> fill(Transaction tx, Held task, int most) {
    Beginning guess = begin(tx, task, task.known, most);
    Optional<Target> target = begin(tx, task.job);
    if (target.isEmpty()) {
      return Optional.empty();
    }
    DatabaseHandle db = target.get().db;
    Beginning beginning =
        Arrays.equals(guess.expected.db.prefix(), db.prefix())
            ? guess
            : begin(tx, task, new Known(db, task.known.progress), most);
    TaskProgress before = Awaiting.await(beginning.progress);
    if (!isOurs(before)) {
      return Optional.empty();
    }
    Optional<Sequence> expected = beginning.expected.progress.last();
    List<ChangeEntry> entries =
        Awaiting.await(
            expected.equals(before.last())
                ? beginning.entries
                : begin(tx, task, new Known(db, before), most).entries);
    return Optional.of(fill(tx, task, target.get(), before, entries, most));
  }

  private Written fill(
      Transaction tx,
      Held task,
      Target target,
      TaskProgress before,
      List<ChangeEntry> entries,
      int most) {
    TaskProgress reached = before;
    int done = 0;
    if (!entries.isEmpty()) {
      DerivedRows.Filling filling =
          kinds.of(tx, target.db, target.filled).fill(tx, entries, task.ahead);
      done = filling.documents();
      reached = before.upTo(entries.get(done - 1).sequence(), done, filling.rows());
    }
    boolean isCut = done < entries.size();
    boolean isDone = !isCut && entries.size() < most;
    TaskProgress after =
        isDone
            ? reached.done()
            : reached.claimedBy(new Claim(holder, Awaiting.await(tx.getReadVersion())));
    new JobTasksSubspace(target.db).put(tx, task.job.number(), task.shard, after);
    return new Written(new Known(target.db, after), done, isCut);
  }

  /** Releases the claim, so that another server can go on at once. */
  void giveBack(Transaction tx, Held task) {
    Optional<Target> target = begin(tx, task.job);
    if (target.isPresent()) {
      JobTasksSubspace tasks = new JobTasksSubspace(target.get().db);
      TaskProgress progress = Awaiting.await(tasks.fenced(tx, task.job.number(), task.shard));
      if (isOurs(progress)) {
        tasks.put(tx, task.job.number(), task.shard, progress.givenBack());
      }
    }
  }
}
