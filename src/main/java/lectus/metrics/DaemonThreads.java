package lectus.metrics;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;

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

  /**
   * Runs a task again and again on a thread of its own, whatever it throws. The pauses take no
   * memory: a pool's thread that finds none ends, and none follows it.
   *
   * @return ends the thread before the next run
   */
  public static Runnable repeat(String name, Duration pause, Runnable task) {
    AtomicBoolean ended = new AtomicBoolean();
    long nanos = pause.toNanos();
    Runnable runs =
        () -> {
          LockSupport.parkNanos(nanos);
          while (!ended.get()) {
            try {
              task.run();
            } catch (Throwable failure) {
              // The task has told of it, or there is no memory to tell of it.
            }
            LockSupport.parkNanos(nanos);
          }
        };
    Thread thread = of(runs, name);
    thread.start();
    return () -> {
      ended.set(true);
      LockSupport.unpark(thread);
    };
  }

  /** Logs what was thrown at the top of a thread, unless memory is too short even for that. */
  public static void complain(Logger log, String what, Throwable failure) {
    try {
      log.error(what, failure);
    } catch (Throwable unsaid) {
      // Going on matters more.
    }
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
