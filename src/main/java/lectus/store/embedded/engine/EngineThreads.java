package lectus.store.embedded.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import lectus.metrics.DaemonThreads;
import lectus.store.embedded.engine.EngineOptions.EngineTimer;

/** The threads of an engine: those supplied, or daemon threads of its own. */
final class EngineThreads implements AutoCloseable {
  private final Executor executor;
  private final EngineTimer timer;
  private final ExecutorService ownExecutor;
  private final ScheduledExecutorService ownTimer;

  EngineThreads(EngineOptions options) {
    ownExecutor =
        options.executor == null ? Executors.newCachedThreadPool(daemons("commit")) : null;
    ownTimer =
        options.timer == null ? Executors.newSingleThreadScheduledExecutor(daemons("timer")) : null;
    executor = ownExecutor == null ? options.executor : ownExecutor;
    timer = ownTimer == null ? options.timer : this::schedule;
  }

  Executor executor() {
    return executor;
  }

  EngineTimer timer() {
    return timer;
  }

  @Override
  public void close() {
    if (ownTimer != null) {
      ownTimer.shutdownNow();
    }
    if (ownExecutor != null) {
      ownExecutor.shutdown();
    }
  }

  private EngineTimer.Handle schedule(Duration period, Runnable task) {
    ScheduledFuture<?> repetition =
        ownTimer.scheduleWithFixedDelay(
            task, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    return () -> repetition.cancel(false);
  }

  static ThreadFactory daemons(String role) {
    return DaemonThreads.numbered("lectus-" + role + "-");
  }
}
