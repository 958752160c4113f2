package lectus.store.embedded;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Composes futures without fdb-java's AsyncUtil, which loads native code. */
final class Futures {
  private Futures() {}

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
