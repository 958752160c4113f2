package lectus.store.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition. */
public final class Await {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(20);

  private Await() {}

  /**
   * @throws AssertionError if it is not met within a minute
   */
  public static void until(String what, BooleanSupplier condition) {
    until(PATIENCE, what, condition);
  }

  /**
   * @throws AssertionError if it is not met within this time
   */
  public static void until(Duration patience, String what, BooleanSupplier condition) {
    long end = System.nanoTime() + patience.toNanos();
    long pause = Duration.ofMillis(1).toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("It did not come about that " + what);
      }
      LockSupport.parkNanos(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE.toNanos());
    }
  }
}
