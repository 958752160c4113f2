package lectus.store.embedded;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import lectus.store.embedded.engine.EngineOptions;

/**
 * What the transactions of an embedded database run on; a test can hand in all of it.
 *
 * @param engine how the engine runs
 * @param executor runs what is not done on the calling thread
 * @param timer runs back-offs, time-outs and waits; it is the database's to shut down
 * @param random evenly distributed over [0, 1), for back-offs
 * @param nanoTime a clock like {@link System#nanoTime()}
 */
public record EmbeddedOptions(
    EngineOptions engine,
    Executor executor,
    ScheduledExecutorService timer,
    DoubleSupplier random,
    LongSupplier nanoTime) {

  /** Options for the real world. */
  public static EmbeddedOptions defaults() {
    return new EmbeddedOptions(
        EngineOptions.defaults(),
        ForkJoinPool.commonPool(),
        newTimer(),
        () -> ThreadLocalRandom.current().nextDouble(),
        System::nanoTime);
  }

  /** These options with another engine's. */
  public EmbeddedOptions withEngine(EngineOptions newEngine) {
    return new EmbeddedOptions(newEngine, executor, timer, random, nanoTime);
  }

  /**
   * These options with other bounds of what the store takes beside the heap.
   *
   * @param cache of memtables, indexes and stored data together, in bytes
   * @param memtable of which three count against it, in bytes
   * @param openFiles at a time
   */
  public EmbeddedOptions withMemory(long cache, long memtable, int openFiles) {
    return withEngine(engine.withMemory(cache, memtable).withOpenFiles(openFiles));
  }

  /** These options with other limits, in bytes, of the conflict history and of waiting commits. */
  public EmbeddedOptions withLimits(long conflictHistory, long queuedCommits) {
    long group = Math.min(engine.groupBytes(), queuedCommits);
    return withEngine(
        engine
            .withLimits(conflictHistory, queuedCommits)
            .withGroups(engine.groupTransactions(), group));
  }

  /** These options with another low-water mark of free space, in bytes; 0: as the disk is. */
  public EmbeddedOptions withReserve(long reserved) {
    return withEngine(engine.withReserve(reserved));
  }

  private static ScheduledExecutorService newTimer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "lectus-store-timer");
              thread.setDaemon(true);
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }
}
