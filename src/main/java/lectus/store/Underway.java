package lectus.store;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import lectus.measure.Stage;
import lectus.measure.StageNotes;

/**
 * A transaction begun by a {@link TransactionRunner}: its first run is complete except for the
 * answer to its commit. The caller finishes it, on any thread.
 */
public final class Underway<T> {
  private final Work<T> work;
  private final TransactionLimits limits;
  private final Function<Duration, Transaction> transactions;
  private final TransactionFigures figures;
  private final Duration time;
  private final long startNanos = System.nanoTime();
  private final StageNotes stages = StageNotes.current();
  private Transaction transaction;
  private Run<T> run;
  private long sentNanos;

  /**
   * @param transactions creates a transaction that ends after the given time
   */
  Underway(
      Work<T> work,
      TransactionLimits limits,
      Function<Duration, Transaction> transactions,
      TransactionFigures figures) {
    this.work = work;
    this.limits = limits;
    this.figures = figures;
    this.transactions = transactions;
    this.time = Patience.limit(limits.time());
    this.transaction = transactions.apply(time);
    figures.begin();
    this.run = run();
  }

  /** Keeps the run's exception for {@link #finish} to handle. */
  private Run<T> run() {
    try {
      Run<T> next = work.run(transaction);
      sentNanos = System.nanoTime();
      return next;
    } catch (RuntimeException failure) {
      return Run.failed(failure);
    } catch (Error error) {
      transaction.close();
      throw error;
    }
  }

  /** Calls {@code then} once, on some thread, when the first commit has been answered. */
  public void whenAnswered(Runnable then) {
    run.whenAnswered(then);
  }

  /** Returns whether the first run is committed. If so, {@link #finish} does not block. */
  public boolean isCommitted() {
    return run.isCommitted();
  }

  /**
   * Waits for the answer, and repeats the work after conflicts. Call it once.
   *
   * @throws FDBException as {@link TransactionRunner#run}
   * @throws lectus.error.LectusException as {@link TransactionRunner#run}
   */
  public T finish() {
    try {
      for (int retries = 0; ; retries++) {
        try {
          T value = run.result().get();
          Patience.answered();
          noteCommit();
          return value;
        } catch (RuntimeException wrapped) {
          RuntimeException failure = Awaiting.unwrapped(wrapped);
          figures.lost(failure);
          Optional<Transaction> next = next(failure, retries);
          if (next.isEmpty()) {
            figures.failed();
            return work.end(failure);
          }
          transaction = next.get();
          figures.retried();
        }
        run = run();
      }
    } finally {
      stages.end(Stage.TRANSACTION, startNanos);
      transaction.close();
    }
  }

  private void noteCommit() {
    if (run.sendsCommit()) {
      long now = System.nanoTime();
      figures.committed(now - sentNanos);
      stages.add(Stage.COMMIT, sentNanos, now);
    }
  }

  private Optional<Transaction> next(RuntimeException failure, int retries) {
    Duration left = time.minusNanos(System.nanoTime() - startNanos);
    return retries < limits.retries() && left.compareTo(Duration.ZERO) > 0
        ? next(failure, left)
        : Optional.empty();
  }

  /**
   * Returns the transaction for another run, after FoundationDB's back-off. Empty if no run
   * follows.
   */
  private Optional<Transaction> next(RuntimeException failure, Duration left) {
    if (!(failure instanceof FDBException lost) || !work.mayFollow(lost.getCode())) {
      return Optional.empty();
    }
    if (RetryableErrors.isOver(lost.getCode())) {
      transaction.close();
      return Optional.of(transactions.apply(left));
    }
    long pausedNanos = stages.begin();
    try {
      return Optional.of(Awaiting.awaitAnswer(transaction.onError(lost)));
    } catch (FDBException timeIsUp) {
      return Optional.empty();
    } finally {
      stages.end(Stage.RETRY, pausedNanos);
    }
  }
}
