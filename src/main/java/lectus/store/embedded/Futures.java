package lectus.store.embedded;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Small steps with futures; those of fdb-java's AsyncUtil load native code. */
final class Futures {
  private Futures() {}

  /** Calls a function that returns a future; if it throws the future fails. */
  static <A, T> CompletableFuture<T> apply(
      Function<? super A, ? extends CompletableFuture<T>> body, A argument) {
    try {
      return body.apply(argument);
    } catch (RuntimeException error) {
      return CompletableFuture.failedFuture(error);
    }
  }
}
