package lectus.document.job;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import lectus.database.Catalogue;
import lectus.error.FoundationDbError;
import lectus.store.LeasedSteps;
import lectus.store.RetryableErrors;
import lectus.store.Store;
import lectus.store.StoreFailures;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.task.Tasks;

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
            ? !RetryableErrors.isOfRequest(lost.getCode())
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
      if (!RetryableErrors.isRetryable(code) && !RetryableErrors.isUnknownResult(code)) {
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
      } else if (!RetryableErrors.isUnknownResult(lost.getCode())) {
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
    return RetryableErrors.isRetryable(lost.getCode()) || (isTooLarge && !size.isLeast());
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
}
