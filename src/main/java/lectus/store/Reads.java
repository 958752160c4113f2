package lectus.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Joins a future that was started earlier. */
public final class Reads {
  private Reads() {}

  /**
   * The future's value, waited for on the caller's thread.
   *
   * @throws com.apple.foundationdb.FDBException what a read or a commit failed with, not wrapped
   */
  public static <T> T await(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw unwrapped(e);
    }
  }

  /** What a future failed with, taken out of however many CompletionExceptions. */
  static RuntimeException unwrapped(RuntimeException failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException runtime ? runtime : failure;
  }
}
