package lectus.metrics;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads for which no process goes on, under the names that a list of threads shows. */
public final class DaemonThreads {
  private DaemonThreads() {}

  public static Thread of(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** All of them have the same name. */
  public static ThreadFactory named(String name) {
    return task -> of(task, name);
  }

  /** Behind the name comes the number of each, from 1 on. */
  public static ThreadFactory numbered(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> of(task, name + number.incrementAndGet());
  }

  /** Returns a pool whose threads end when they have had nothing to do for so long. */
  public static ThreadPoolExecutor pool(int most, long idleSeconds, ThreadFactory threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            most, most, idleSeconds, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
