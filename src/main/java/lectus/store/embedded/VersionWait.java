package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Repeats a read of a future version until the version is reached, for a second at most. */
final class VersionWait<T> {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long PAUSE_MILLIS = 50;

  private final Attempt attempt;
  private final Supplier<T> read;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final long startedNanos;

  VersionWait(Attempt attempt, Supplier<T> read) {
    this.attempt = attempt;
    this.read = read;
    startedNanos = now();
  }

  /** Requires the attempt's monitor. */
  CompletableFuture<T> start() {
    attempt.pending.addRead(result);
    pause();
    return result;
  }

  private void pause() {
    Runnable next = () -> Futures.on(attempt.executor, this::tryAgain);
    try {
      attempt.environment.timer().schedule(next, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      result.completeExceptionally(StoreError.TRANSACTION_CANCELLED.exception());
    }
  }

  private void tryAgain() {
    T value = null;
    RuntimeException failure = null;
    synchronized (attempt) {
      if (result.isDone()) {
        return;
      }
      try {
        value = attempt.readAgain(read);
      } catch (FDBException error) {
        if (error.getCode() == StoreError.FUTURE_VERSION.code() && isPatient()) {
          pause();
          return;
        }
        attempt.noteReadFailure(error);
        failure = error;
      } catch (IllegalStateException closed) {
        failure = closed;
      }
    }
    if (failure == null) {
      result.complete(value);
    } else {
      result.completeExceptionally(failure);
    }
  }

  private boolean isPatient() {
    return now() - startedNanos < PATIENCE_NANOS;
  }

  private long now() {
    return attempt.environment.nanoTime().getAsLong();
  }
}
