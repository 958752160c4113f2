package lectus.account;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the store has an admin, looked up again and again on a thread of its own, so that nothing
 * else that is slow delays it. Thread-safe.
 */
final class AdminWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdminWatch.class);

  /** Less than an account may be old, so that the look itself has its time. */
  private static final long LOOK_MILLIS = 400;

  private final BooleanSupplier reading;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "lectus-admins");
            made.setDaemon(true);
            return made;
          });
  private volatile boolean isAny;

  AdminWatch(BooleanSupplier reading) {
    this.reading = reading;
  }

  /** Looks now, which waits for the store, and from now on. */
  void start() {
    look();
    thread.scheduleWithFixedDelay(
        this::lookIfPossible, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  boolean isAny() {
    return isAny;
  }

  /** Waits for the store. */
  void look() {
    isAny = reading.getAsBoolean();
  }

  /** Like {@link #look}; what was seen last remains if the store does not answer. */
  private void lookIfPossible() {
    try {
      look();
    } catch (RuntimeException failure) {
      LOG.debug("It is unknown for now whether there are admins", failure);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
