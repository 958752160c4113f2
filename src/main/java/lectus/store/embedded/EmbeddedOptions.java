package lectus.store.embedded;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import lectus.metrics.DaemonThreads;
import lectus.store.embedded.engine.EngineOptions;

/**
 * The environment of an embedded database's transactions. Tests can supply all of it.
 *
 * @param engine how the engine runs
 * @param executor runs work that does not run on the calling thread
 * @param timer runs back-offs, time-outs and waits; the database shuts it down
 * @param random evenly distributed over [0, 1), for back-offs
 * @param nanoTime a clock like {@link System#nanoTime()}
 */
public record EmbeddedOptions(
    EngineOptions engine,
    Executor executor,
    ScheduledExecutorService timer,
    DoubleSupplier random,
    LongSupplier nanoTime) {

  private static final int MIN_THREADS = 2;

  /**
   * Shared by all databases of the process. {@link java.util.concurrent.CompletableFuture} does not
   * use the JDK's common pool on one or two processors: there each asynchronous step starts a
   * thread of its own. A thread of this pool that waits for a future is replaced meanwhile.
   */
  private static final ForkJoinPool POOL =
      new ForkJoinPool(
          Math.max(MIN_THREADS, Runtime.getRuntime().availableProcessors()),
          EmbeddedOptions::newThread,
          null,
          true);

  private static ForkJoinWorkerThread newThread(ForkJoinPool pool) {
    ForkJoinWorkerThread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
    thread.setName("lectus-store-" + thread.getPoolIndex());
    return thread;
  }

  /** Returns the options for production. */
  public static EmbeddedOptions defaults() {
    return new EmbeddedOptions(
        EngineOptions.defaults(),
        POOL,
        newTimer(),
        () -> ThreadLocalRandom.current().nextDouble(),
        System::nanoTime);
  }

  public EmbeddedOptions withEngine(EngineOptions newEngine) {
    return new EmbeddedOptions(newEngine, executor, timer, random, nanoTime);
  }

  private static ScheduledExecutorService newTimer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, DaemonThreads.named("lectus-store-timer"));
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }
}
