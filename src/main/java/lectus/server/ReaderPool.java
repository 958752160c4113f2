package lectus.server;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads that read the store, and the bound on what waits for them. */
final class ReaderPool {
  /** Refused beyond it: the answers would come too late for anybody. */
  private static final int MOST_WAITING = 20_000;

  private ReaderPool() {}

  static ThreadPoolExecutor of(int threads) {
    AtomicInteger count = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            work -> {
              Thread thread = new Thread(work, "lectus-reader-" + count.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    pool.prestartAllCoreThreads();
    return pool;
  }
}
