package lectus.store;

import java.time.Duration;
import lectus.metrics.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at something in the store again and again, on a thread of its own, so that nothing else
 * that is slow delays it.
 */
public final class RegularLook implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegularLook.class);

  private final String name;
  private final Runnable look;
  private final Duration pause;
  private Runnable end = () -> {};

  /**
   * @param name of the thread
   * @param look waits for the store
   */
  public RegularLook(String name, long pauseMillis, Runnable look) {
    this.name = name;
    this.look = look;
    this.pause = Duration.ofMillis(pauseMillis);
  }

  /** Looks now, on this thread, and from now on. */
  public void start() {
    look.run();
    end = DaemonThreads.repeat(name, pause, this::lookIfPossible);
  }

  private void lookIfPossible() {
    try {
      look.run();
    } catch (RuntimeException | Error failure) {
      LOG.debug("What was seen last remains: {} failed", name, failure);
    }
  }

  @Override
  public void close() {
    end.run();
  }
}
