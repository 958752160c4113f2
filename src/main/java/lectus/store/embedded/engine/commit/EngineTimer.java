package lectus.store.embedded.engine.commit;

import java.time.Duration;

/** Runs a task repeatedly. Tests supply one that they advance by hand. */
@FunctionalInterface
public interface EngineTimer {

  /** Runs {@code task} every {@code period} until the returned handle is closed. */
  Handle every(Duration period, Runnable task);

  /** Ends a repetition when closed. */
  @FunctionalInterface
  interface Handle extends AutoCloseable {
    @Override
    void close();
  }
}
