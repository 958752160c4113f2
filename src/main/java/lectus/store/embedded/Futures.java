package lectus.store.embedded;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** Calls back, and composes futures without fdb-java's AsyncUtil, which loads native code. */
final class Futures {
  private Futures() {}

  /**
   * Runs a callback on an executor. If the executor refuses, the callback runs at once: somebody
   * waits for what it completes.
   */
  static void on(Executor executor, Runnable callback) {
    try {
      executor.execute(callback);
    } catch (RuntimeException | Error refused) {
      callback.run();
    }
  }

  /** Calls a function that returns a future. Its exception becomes the future's failure. */
  static <A, T> CompletableFuture<T> apply(
      Function<? super A, ? extends CompletableFuture<T>> body, A argument) {
    try {
      return body.apply(argument);
    } catch (RuntimeException error) {
      return CompletableFuture.failedFuture(error);
    }
  }
}
