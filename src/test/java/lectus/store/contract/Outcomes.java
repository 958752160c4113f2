package lectus.store.contract;

import com.apple.foundationdb.FDBException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The outcome of a call or a future: 0, or the code of its FDBException. */
final class Outcomes {
  /** Longer than any answer of a working store takes; keeps a test from hanging. */
  private static final long PATIENCE_SECONDS = 30;

  private Outcomes() {}

  static int codeOf(CompletableFuture<?> future) {
    try {
      future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return ErrorCodes.OK;
    } catch (ExecutionException e) {
      return codeOf(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("The future did not complete", e);
    }
  }

  static int codeOf(Runnable call) {
    try {
      call.run();
      return ErrorCodes.OK;
    } catch (RuntimeException e) {
      return codeOf(e);
    }
  }

  static int codeOf(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof FDBException fdb) {
      return fdb.getCode();
    }
    throw new AssertionError("Not an FDBException", cause);
  }

  /** Returns the value of a future that must succeed. */
  static <T> T valueOf(CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | InterruptedException | TimeoutException e) {
      throw new AssertionError("The future did not succeed", e);
    }
  }
}
