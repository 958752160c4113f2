package lectus.jobs;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import lectus.database.Catalogue;
import lectus.error.FoundationDbError;
import lectus.metrics.Tasks;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.StoreFailures;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.MalformedTupleException.NewerFormatException;

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

  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  private final ListedJobs jobs;
  private final JobLooks looks;
  private final JobTransaction beginning;
  private final TaskClaims claims = new TaskClaims();
  private final TaskPage page;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Tasks tasks;
  private final BooleanSupplier requestsWait;
  private final PageSize size;
  private final Map<Job, Long> shunned = new HashMap<>();
  private Optional<HeldTask> held = Optional.empty();

  /** Whether it found nothing to do when it looked last. */
  private boolean isIdle;

  private Optional<RuntimeException> failure = Optional.empty();

  /**
   * @param requestsWait whether work for clients has to wait
   * @param looks of all workers of a server
   */
  public JobWorker(
      Store store,
      Catalogue catalogue,
      List<FilledKind> kinds,
      BooleanSupplier requestsWait,
      JobLooks looks) {
    this(store, catalogue, kinds, requestsWait, looks, PageSize.MOST);
  }

  /**
   * @param mostDocuments in one transaction
   */
  public JobWorker(
      Store store,
      Catalogue catalogue,
      List<FilledKind> kinds,
      BooleanSupplier requestsWait,
      JobLooks looks,
      int mostDocuments) {
    this.looks = looks;
    this.beginning = new JobTransaction(catalogue, store.rootPrefix(), kinds);
    this.page = new TaskPage(beginning, claims);
    this.transactions = new TransactionRunner(store, ONCE);
    this.jobs = new ListedJobs(new JobsSubspace(store.rootPrefix()), transactions);
    this.atTheEnd = new TransactionRunner(store, AT_THE_END);
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
    boolean any = held.isPresent() || ((!isIdle || looks.isDue()) && look());
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
    ListedJobs.Some some = jobs.next();
    failure = some.failure().or(() -> failure);
    shunned.values().removeIf(until -> until - System.nanoTime() < 0);
    boolean any = false;
    for (Job job : some.readable()) {
      if (held.isEmpty() && beginning.knows(job) && !shunned.containsKey(job)) {
        any |= attempt(job, () -> take(job));
      }
    }
    if (any) {
      looks.found();
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

  /** What became of a job that was looked at. */
  private record Look(boolean isOver, Optional<TaskClaims.Claimed> claimed) {
    static final Look OVER = new Look(true, Optional.empty());
  }

  private boolean take(Job job) {
    try {
      Look look = transactions.runIdempotent(tx -> look(tx, job));
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

  private Look look(Transaction tx, Job job) {
    Optional<JobTransaction.Target> target = beginning.begin(tx, job);
    if (target.isEmpty()) {
      return Look.OVER;
    }
    List<OpenTasks.Open> open = OpenTasks.of(tx, target.get().db(), job);
    if (open.isEmpty()) {
      beginning.complete(tx, job, target.get());
      return Look.OVER;
    }
    return new Look(false, claims.claimOne(tx, job, target.get(), open));
  }

  private HeldTask held(Job job, TaskClaims.Claimed claimed) {
    return new HeldTask(
        job,
        claimed.shard(),
        tasks.begin("indexer", job.database().text(), details(claimed)).outOf(claimed.entries()),
        claimed.known());
  }

  private static Map<String, String> details(TaskClaims.Claimed claimed) {
    Map<String, String> details = new LinkedHashMap<>();
    details.put("design_document", claimed.definedBy());
    details.put("changes_shard", claimed.shard().text());
    return details;
  }

  private boolean work(HeldTask task, boolean isBusy) {
    int documents = size.documents(isBusy);
    long began = System.nanoTime();
    try {
      Optional<TaskPage.Written> written =
          transactions.runIdempotent(tx -> page.fill(tx, task, documents));
      written.ifPresent(it -> wrote(task, it, System.nanoTime() - began));
      if (written.isEmpty() || task.known().progress().isDone()) {
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

  private void wrote(HeldTask task, TaskPage.Written written, long nanos) {
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
    held.ifPresent(HeldTask::close);
    held = Optional.empty();
  }

  @Override
  public void giveBack() {
    Optional<HeldTask> last = held;
    drop();
    last.ifPresent(
        task ->
            atTheEnd.runIdempotent(
                tx -> {
                  page.giveBack(tx, task.job(), task.shard());
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
   * The jobs of all databases, some at a time, over and over. Jobs of kinds or formats of a later
   * version are left alone: servers of that version work on them.
   */
  static final class ListedJobs {
    static final int MAX_JOBS = 100;

    private final JobsSubspace jobs;
    private final TransactionRunner transactions;
    private Optional<byte[]> lookedAt = Optional.empty();

    ListedJobs(JobsSubspace jobs, TransactionRunner transactions) {
      this.jobs = jobs;
      this.transactions = transactions;
    }

    /**
     * Some jobs.
     *
     * @param failure why some other one cannot be read
     */
    record Some(List<Job> readable, Optional<RuntimeException> failure) {}

    /** Returns the next ones, or the first ones after the last. */
    Some next() {
      List<KeyValue> rows =
          transactions.read(tx -> Awaiting.await(jobs.behind(tx, lookedAt, MAX_JOBS)));
      lookedAt =
          rows.size() == MAX_JOBS
              ? Optional.of(rows.get(rows.size() - 1).getKey())
              : Optional.empty();
      List<Job> readable = new ArrayList<>();
      Optional<RuntimeException> failure = Optional.empty();
      for (KeyValue row : rows) {
        try {
          readable.add(jobs.decode(row));
        } catch (NewerFormatException ofLaterVersion) {
          continue;
        } catch (MalformedTupleException | IllegalArgumentException damaged) {
          failure = Optional.of(damaged);
        }
      }
      return new Some(readable, failure);
    }
  }
}
