package lectus.store.embedded.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import lectus.metrics.DaemonThreads;
import lectus.store.embedded.engine.EngineOptions.EngineTimer;

/** The threads of an engine: those supplied, or daemon threads of its own. */
final class EngineThreads implements AutoCloseable {
  private final Executor executor;
  private final EngineTimer timer;
  private final ExecutorService ownExecutor;

  EngineThreads(EngineOptions options) {
    ownExecutor =
        options.executor == null ? Executors.newCachedThreadPool(daemons("commit")) : null;
    executor = ownExecutor == null ? options.executor : ownExecutor;
    timer =
        options.timer == null
            ? (period, task) -> DaemonThreads.repeat("lectus-timer-1", period, task)::run
            : options.timer;
  }

  Executor executor() {
    return executor;
  }

  EngineTimer timer() {
    return timer;
  }

  @Override
  public void close() {
    if (ownExecutor != null) {
      ownExecutor.shutdown();
    }
  }

  static ThreadFactory daemons(String role) {
    return DaemonThreads.numbered("lectus-" + role + "-");
  }
}
