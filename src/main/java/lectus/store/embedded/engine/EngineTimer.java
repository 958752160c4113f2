package lectus.store.embedded.engine;

import java.time.Duration;

/** Calls something again and again; a test hands in one that it turns by hand. */
@FunctionalInterface
public interface EngineTimer {

  /** Runs {@code task} every {@code period} until the returned handle is closed. */
  Handle every(Duration period, Runnable task);

  /** Ends a repetition. */
  @FunctionalInterface
  interface Handle extends AutoCloseable {
    @Override
    void close();
  }
}
