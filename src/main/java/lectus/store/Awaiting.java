package lectus.store;

import com.apple.foundationdb.FDBException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lectus.error.NotInMemoryException;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;

/** Awaits futures that were started earlier. */
public final class Awaiting {
  private static final List<WaitListener> LISTENERS =
      ServiceLoader.load(WaitListener.class, WaitListener.class.getClassLoader()).stream()
          .map(ServiceLoader.Provider::get)
          .toList();

  private Awaiting() {}

  /**
   * Waits for a read on the caller's thread and returns its value.
   *
   * @throws FDBException the error of the failed read, not wrapped
   */
  public static <T> T await(CompletableFuture<T> future) {
    if (future.isDone()) {
      return awaitAnswer(future);
    }
    StageNotes stages = StageNotes.current();
    long begun = stages.begin();
    try {
      return awaitAnswer(future);
    } finally {
      stages.end(Stage.READ, begun);
    }
  }

  /**
   * Waits for the answer to a commit, or for a pause before the next run.
   *
   * @throws FDBException the error of the failed commit, not wrapped
   */
  static <T> T awaitAnswer(CompletableFuture<T> future) {
    if (!future.isDone()) {
      announce();
    }
    try {
      return future.join();
    } catch (CompletionException e) {
      throw unwrapped(e);
    }
  }

  /**
   * Returns the unwrapped failure if stored data was at fault. A failed transaction has to run
   * again; data that cannot be decoded stays that way.
   *
   * @throws RuntimeException the unwrapped failure, if the transaction was at fault
   */
  public static RuntimeException failureOfData(RuntimeException wrapped) {
    RuntimeException failure = unwrapped(wrapped);
    if (failure instanceof FDBException || failure instanceof NotInMemoryException) {
      throw failure;
    }
    return failure;
  }

  /** Returns a future's failure without its CompletionExceptions, however deeply nested. */
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

  /** Says that this thread may have to wait now. */
  static void announce() {
    LISTENERS.forEach(WaitListener::mayWait);
  }

  /**
   * Told by a thread, before it goes on, that it may have to wait for the store. A server has none.
   * The tests have one, found as a service, which objects to threads that serve many clients.
   */
  public interface WaitListener {
    void mayWait();
  }
}
