package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lectus.error.NotInMemoryException;

/** Joins a future that was started earlier. */
public final class Reads {
  private Reads() {}

  /**
   * The future's value, waited for on the caller's thread.
   *
   * @throws FDBException what a read or a commit failed with, not wrapped
   */
  public static <T> T await(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw unwrapped(e);
    }
  }

  /**
   * What went wrong with data that was read, as against the reading: a transaction that failed has
   * to run again, but what cannot be understood stays so.
   *
   * @throws RuntimeException the failure, unwrapped, if it is the transaction's
   */
  public static RuntimeException failureOfData(RuntimeException wrapped) {
    RuntimeException failure = unwrapped(wrapped);
    if (failure instanceof FDBException || failure instanceof NotInMemoryException) {
      throw failure;
    }
    return failure;
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
