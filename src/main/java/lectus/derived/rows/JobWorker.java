package lectus.derived.rows;

import com.apple.foundationdb.FDBException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import lectus.database.Catalogue;
import lectus.derived.Derived;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.error.FoundationDbError;
import lectus.metrics.Tasks;
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

  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

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

  /**
   * @param mostDocuments in one transaction
   */
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
      if (written.isEmpty() || task.isDone()) {
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
    held.ifPresent(JobTransactions.Held::close);
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
}
