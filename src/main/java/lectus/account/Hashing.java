package lectus.account;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Computes hashes of passwords, which take a good part of a second each, on threads of its own.
 * Names that have logged in from their address before have a thread to themselves, so that whoever
 * tries out passwords does not keep them waiting. Thread-safe.
 */
final class Hashing implements AutoCloseable {
  /** More would wait longer than clients do. */
  static final int MOST_WAITING = 100;

  private static final int IDLE_SECONDS = 10;

  private final ThreadPoolExecutor ofStrangers =
      pool("lectus-hashing", Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
  private final ThreadPoolExecutor ofGuests = pool("lectus-hashing-known", 1);
  private volatile boolean isClosed;

  /**
   * @param isKnown whether the name has logged in from its address before
   * @return fails with Unavailable (503) if too many wait
   */
  <T> CompletableFuture<T> begin(boolean isKnown, Supplier<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    ThreadPoolExecutor pool = isKnown ? ofGuests : ofStrangers;
    try {
      pool.execute(() -> run(work, result));
    } catch (RejectedExecutionException full) {
      result.completeExceptionally(unavailable("Too many log in at once."));
    }
    return result;
  }

  private <T> void run(Supplier<T> work, CompletableFuture<T> result) {
    try {
      if (isClosed) {
        throw stopping();
      }
      result.complete(work.get());
    } catch (Throwable failure) {
      result.completeExceptionally(failure);
    }
  }

  static LectusException stopping() {
    return unavailable("The server is stopping.");
  }

  private static LectusException unavailable(String reason) {
    return new LectusException(new LectusError.Unavailable(reason));
  }

  /** Whoever waits still gets an answer. */
  @Override
  public void close() {
    isClosed = true;
    ofStrangers.shutdown();
    ofGuests.shutdown();
  }

  private static ThreadPoolExecutor pool(String name, int threads) {
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            task -> {
              Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
