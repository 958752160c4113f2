package lectus.store;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import lectus.metrics.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at something in the store again and again, on a thread of its own, so that nothing else
 * that is slow delays it.
 */
public final class RegularLook implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegularLook.class);

  private final Runnable look;
  private final long pauseMillis;
  private final ScheduledExecutorService thread;

  /**
   * @param name of the thread
   * @param look waits for the store
   */
  public RegularLook(String name, long pauseMillis, Runnable look) {
    this.look = look;
    this.pauseMillis = pauseMillis;
    this.thread = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named(name));
  }

  /** Looks now, on this thread, and from now on. */
  public void start() {
    look.run();
    thread.scheduleWithFixedDelay(
        this::lookIfPossible, pauseMillis, pauseMillis, TimeUnit.MILLISECONDS);
  }

  /** An error would end all later looks, too. */
  private void lookIfPossible() {
    try {
      look.run();
    } catch (RuntimeException | Error failure) {
      LOG.debug("What was seen last remains: {} failed", Thread.currentThread().getName(), failure);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
