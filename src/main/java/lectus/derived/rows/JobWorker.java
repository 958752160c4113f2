package lectus.derived.rows;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
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
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeaseSubspace.Claim;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.StoreFailures;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Performs tasks of jobs, one at a time, on one thread; a server has several workers. It claims a
 * task that nobody performs, whatever its job, and goes through it page by page. A worker that
 * finds no task of a job open makes what was filled readable.
 *
 * <p>While requests wait it takes a small page now and then.
 */
public final class JobWorker implements LeasedSteps {
  /** How long a job is left alone that could not go on. */
  private static final long SHUNNED_NANOS = Duration.ofSeconds(5).toNanos();

  private static final TransactionLimits ONCE = new TransactionLimits(0, Duration.ofSeconds(10));

  private final JobList jobs;
  private final JobTransactions steps;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Tasks tasks;
  private final BooleanSupplier requestsWait;
  private final PageSize size;
  private final Map<Job, Long> shunned = new HashMap<>();
  private Optional<JobTransactions.Held> held = Optional.empty();

  /** Whether it found nothing to do when it looked last. */
  private boolean isIdle;

  private Optional<RuntimeException> failure = Optional.empty();

  /**
   * @param requestsWait whether work for clients has to wait
   * @param jobs of all workers of a server
   */
  public JobWorker(
      Store store,
      Catalogue catalogue,
      DerivedRows.Kinds kinds,
      BooleanSupplier requestsWait,
      JobList jobs) {
    this(store, catalogue, kinds, requestsWait, jobs, PageSize.MOST);
  }

  public JobWorker(
      Store store,
      Catalogue catalogue,
      DerivedRows.Kinds kinds,
      BooleanSupplier requestsWait,
      JobList jobs,
      int mostDocuments) {
    this.jobs = jobs;
    this.steps = new JobTransactions(catalogue, store.rootPrefix(), kinds);
    this.transactions = new TransactionRunner(store, ONCE);
    this.atTheEnd = new TransactionRunner(store, TransactionLimits.AT_THE_END);
    this.tasks = store.tasks();
    this.requestsWait = requestsWait;
    this.size = new PageSize(mostDocuments);
  }

  /**
   * A job that cannot go on keeps no other one waiting: why is thrown when there is nothing else to
   * do.
   */
  @Override
  public boolean step() {
    boolean any = held.isPresent() || ((!isIdle || jobs.isDue()) && look());
    isIdle = !any;
    boolean isBusy = requestsWait.getAsBoolean();
    held.ifPresent(task -> attempt(task.job(), () -> work(task, isBusy)));
    if (!any && failure.isPresent()) {
      RuntimeException why = failure.get();
      failure = Optional.empty();
      throw why;
    }
    return any && !isBusy;
  }

  /** Returns whether a task was claimed, or a job ended. */
  private boolean look() {
    JobList.Some some = jobs.next();
    failure = some.failure().or(() -> failure);
    shunned.values().removeIf(until -> until - System.nanoTime() < 0);
    boolean any = false;
    for (Job job : some.readable()) {
      if (held.isEmpty() && !shunned.containsKey(job)) {
        any |= attempt(job, () -> take(job));
      }
    }
    if (any) {
      jobs.found();
    }
    return any;
  }

  private interface Attempt {
    boolean run();
  }

  private boolean attempt(Job job, Attempt attempt) {
    try {
      return attempt.run();
    } catch (RuntimeException unable) {
      throwIfOfStore(unable);
      drop();
      shunned.put(job, System.nanoTime() + SHUNNED_NANOS);
      failure = Optional.of(unable);
      return false;
    }
  }

  /** If the store is in trouble, all jobs would fail. */
  private static void throwIfOfStore(RuntimeException failure) {
    boolean isOfStore =
        failure instanceof FDBException lost
            ? !FoundationDbError.isOfRequest(lost.getCode())
            : StoreFailures.foreseen(failure).isPresent();
    if (isOfStore) {
      throw failure;
    }
  }

  private boolean take(Job job) {
    try {
      JobTransactions.Look look = transactions.runIdempotent(tx -> steps.look(tx, job));
      held = look.claimed().map(it -> held(job, it));
      return look.isOver() || held.isPresent();
    } catch (FDBException lost) {
      int code = lost.getCode();
      if (!FoundationDbError.isRetryable(code) && !FoundationDbError.isUnknownResult(code)) {
        throw lost;
      }
      return true;
    }
  }

  private JobTransactions.Held held(Job job, JobTransactions.Claimed claimed) {
    return new JobTransactions.Held(
        job,
        claimed,
        tasks.begin("indexer", job.database().text(), details(claimed)).outOf(claimed.entries()));
  }

  private static Map<String, String> details(JobTransactions.Claimed claimed) {
    boolean isFeed = claimed.filled().definition().kind() == Derived.Kind.FEED;
    Map<String, String> details = new LinkedHashMap<>();
    details.put(
        "design_document", (isFeed ? "_feeds/" : "") + claimed.filled().definition().definedBy());
    details.put("changes_shard", claimed.shard().text());
    return details;
  }

  private boolean work(JobTransactions.Held task, boolean isBusy) {
    int documents = size.documents(isBusy);
    long began = System.nanoTime();
    try {
      Optional<JobTransactions.Written> written =
          transactions.runIdempotent(tx -> steps.fill(tx, task, documents));
      written.ifPresent(it -> wrote(task, it, System.nanoTime() - began));
      if (written.isEmpty() || task.known.progress.isDone()) {
        drop();
      }
    } catch (FDBException lost) {
      if (isTooMuchAtOnce(lost)) {
        size.wasTooMuch();
      } else if (!FoundationDbError.isUnknownResult(lost.getCode())) {
        throw lost;
      }
    }
    return true;
  }

  private void wrote(JobTransactions.Held task, JobTransactions.Written written, long nanos) {
    task.know(written.known());
    if (written.isCut()) {
      size.wasCut(written.documents());
    } else {
      size.took(nanos);
    }
  }

  private boolean isTooMuchAtOnce(FDBException lost) {
    boolean isTooLarge = FoundationDbError.TRANSACTION_TOO_LARGE.is(lost.getCode());
    return FoundationDbError.isRetryable(lost.getCode()) || (isTooLarge && !size.isLeast());
  }

  private void drop() {
    held.ifPresent(task -> task.shown.close());
    held = Optional.empty();
  }

  @Override
  public void giveBack() {
    Optional<JobTransactions.Held> last = held;
    drop();
    last.ifPresent(
        task ->
            atTheEnd.runIdempotent(
                tx -> {
                  steps.giveBack(tx, task);
                  return null;
                }));
  }

  /**
   * How many documents a transaction of a task looks at: many, because each costs a round trip, but
   * not so many that it takes long or that their writers are in the way.
   */
  private static final class PageSize {
    static final int MOST = 4_000;

    /** While requests wait. */
    private static final int FEW = 250;

    private static final int FIRST = 1_000;
    private static final long SHORT_NANOS = 500_000_000;
    private static final long LONG_NANOS = 1_500_000_000;

    private final int most;
    private int documents;

    PageSize(int most) {
      this.most = most;
      this.documents = Math.min(most, FIRST);
    }

    int documents(boolean isBusy) {
      return isBusy ? Math.min(documents, FEW) : documents;
    }

    void took(long nanos) {
      if (nanos < SHORT_NANOS) {
        documents = Math.min(most, 2 * documents);
      } else if (nanos > LONG_NANOS) {
        documents = Math.max(1, documents / 2);
      }
    }

    /** A page ended early, because the documents are large. */
    void wasCut(int filled) {
      documents = Math.max(1, Math.min(documents, 2 * filled));
    }

    /** The page did not fit into a transaction, or conflicted with a writer. */
    void wasTooMuch() {
      documents = Math.max(1, documents / 4);
    }

    boolean isLeast() {
      return documents == 1;
    }
  }

  /**
   * The transactions of jobs: a task is claimed, gone through page by page, and given back; a job
   * without an open task makes readable what it filled. Each begins with whether the job is still
   * wanted, and conflicts with whoever ends the job.
   *
   * <p>A task's claim lies in the task's row, which each transaction of the task reads and writes;
   * it is renewed thereby. Its age is measured in the store's versions.
   */
  static final class JobTransactions {
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

      void know(Known now) {
        known = now;
        shown.advance(now.progress.documents() - shown.done());
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
      return LectusException.unlessMissing(() -> catalogue.currentForUpkeep(tx, job.database()))
          .filter(db -> db.instance().equals(job.instance()));
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
     * later generation has was written by those who keep what is filled; an older generation that
     * is empty has nothing to fill, whether it is still described or not, and stays empty.
     */
    private static List<Open> openTasks(Transaction tx, DatabaseHandle db, Job job) {
      CompletableFuture<Set<ShardId>> filled = DatabaseCounters.filledShards(tx, db);
      Map<ShardId, TaskProgress> begun =
          Awaiting.await(new JobTasksSubspace(db).all(tx, job.number()));
      List<Open> open = new ArrayList<>();
      for (Generation generation : db.topology().generations()) {
        boolean isLater =
            generation.since().filter(it -> it.compareTo(job.until()) > 0).isPresent();
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
      return new Claimed(
          open.shard, target.filled, new Known(db, progress), Awaiting.await(entries));
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
                  new EntryRange(
                      known.progress.last(), Optional.of(task.job.until()), most, false)));
    }

    /**
     * Fills some entries of a task's shard, and notes how far the task is then. Run twice, it goes
     * on where it ended.
     *
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
}
