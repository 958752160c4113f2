package lectus.store;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;

/**
 * A transaction begun by a {@link TransactionRunner}: its first run is complete except for the
 * answer to its commit. The caller goes on with it whenever the store has answered, or finishes it
 * by waiting, on any thread.
 */
public final class PendingTransaction<T> {
  private final Function<Duration, Transaction> transactions;
  private final TransactionMetrics figures;
  private final long startNanos = System.nanoTime();
  private final StageNotes stages = StageNotes.current();
  private Work<T> work;
  private TransactionLimits limits;
  private Duration time;
  private long workNanos = startNanos;
  private int retries;
  private Transaction transaction;
  private Run<T> run;
  private long sentNanos;

  /** The pause before the next run, after a run that is to be repeated. */
  private Optional<CompletableFuture<Transaction>> pause = Optional.empty();

  private RuntimeException lost;
  private long pausedNanos;
  private boolean isOver;
  private T value;

  /**
   * @param transactions creates a transaction that ends after the given time
   */
  PendingTransaction(
      Work<T> work,
      TransactionLimits limits,
      Function<Duration, Transaction> transactions,
      TransactionMetrics figures) {
    this.work = work;
    this.limits = limits;
    this.figures = figures;
    this.transactions = transactions;
    this.time = ReadTimeout.limit(limits.time());
    this.transaction = transactions.apply(time);
    figures.begin();
    this.run = run();
  }

  /** Keeps the run's exception for {@link #goOn} to handle. */
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

  /** Calls {@code then} once, on some thread, when {@link #goOn} will not wait. */
  public void whenAnswered(Runnable then) {
    if (pause.isPresent()) {
      pause.get().whenComplete((again, timeIsUp) -> then.run());
    } else {
      run.whenAnswered(then);
    }
  }

  /** Returns whether the run is committed. If so, {@link #goOn} ends the work. */
  public boolean isCommitted() {
    return pause.isEmpty() && run.isCommitted();
  }

  /**
   * Waits for the answer, and repeats the work after conflicts.
   *
   * @throws FDBException as {@link TransactionRunner#run}
   * @throws lectus.error.LectusException as {@link TransactionRunner#run}
   */
  public T finish() {
    Optional<T> done = Optional.empty();
    while (!isOver) {
      done = goOn();
    }
    return done.orElse(value);
  }

  /**
   * Takes the store's answer: ends the work, or begins what follows. After {@link #whenAnswered} it
   * waits for no commit and no pause, only for what another run reads.
   *
   * @return what {@link #finish} returns; empty if the store is to answer again
   * @throws FDBException as {@link #finish}; then the work is over
   * @throws lectus.error.LectusException as {@link #finish}; then the work is over
   */
  public Optional<T> goOn() {
    boolean goesOn = false;
    try {
      goesOn = pause.isPresent() ? runAfterPause() : runAfterAnswer();
    } finally {
      if (!goesOn) {
        isOver = true;
        stages.end(Stage.TRANSACTION, startNanos);
        transaction.close();
      }
    }
    return goesOn ? Optional.empty() : Optional.ofNullable(value);
  }

  /** Returns whether another answer is to come. */
  private boolean runAfterAnswer() {
    RuntimeException failure;
    try {
      value = run.result().get();
      ReadTimeout.answered();
      noteCommit();
      return false;
    } catch (RuntimeException wrapped) {
      failure = Awaiting.unwrapped(wrapped);
    }
    figures.lost(failure);
    if (!mayFollow(failure) || !follows(failure)) {
      end(failure);
    }
    return true;
  }

  /** Begins another run, or the pause before it. Returns false if the store is closed. */
  private boolean follows(RuntimeException failure) {
    try {
      if (RetryableErrors.isOver(((FDBException) failure).getCode())) {
        transaction.close();
        transaction = transactions.apply(left());
        repeat();
      } else {
        lost = failure;
        pausedNanos = stages.begin();
        pause = Optional.of(transaction.onError(failure));
      }
      return true;
    } catch (IllegalStateException closed) {
      return false;
    }
  }

  private boolean runAfterPause() {
    CompletableFuture<Transaction> paused = pause.orElseThrow();
    pause = Optional.empty();
    try {
      transaction = Awaiting.awaitAnswer(paused);
    } catch (FDBException | IllegalStateException timeIsUpOrClosed) {
      stages.end(Stage.RETRY, pausedNanos);
      end(lost);
      return true;
    }
    stages.end(Stage.RETRY, pausedNanos);
    repeat();
    return true;
  }

  private void repeat() {
    retries++;
    figures.retried();
    run = run();
  }

  private boolean mayFollow(RuntimeException failure) {
    return retries < limits.retries()
        && left().compareTo(Duration.ZERO) > 0
        && failure instanceof FDBException known
        && work.mayFollow(known.getCode());
  }

  private Duration left() {
    return time.minusNanos(System.nanoTime() - workNanos);
  }

  /** Begins what the work does when no run follows. */
  private void end(RuntimeException failure) {
    Optional<Work.Ending<T>> ending = work.ending(failure);
    if (ending.isEmpty()) {
      figures.failed();
      throw work.told(failure);
    }
    work = ending.get().work();
    limits = ending.get().limits();
    time = ReadTimeout.limit(limits.time());
    workNanos = System.nanoTime();
    retries = 0;
    transaction.close();
    try {
      transaction = transactions.apply(time);
    } catch (IllegalStateException closed) {
      figures.failed();
      throw work.told(closed);
    }
    run = run();
  }

  private void noteCommit() {
    if (run.sendsCommit()) {
      long now = System.nanoTime();
      figures.committed(now - sentNanos);
      stages.add(Stage.COMMIT, sentNanos, now);
    }
  }
}
