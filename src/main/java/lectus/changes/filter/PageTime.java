package lectus.changes.filter;

import java.time.Duration;

/**
 * Limits the time that one transaction reads for a page before it leaves the rest to the next: far
 * below the five seconds that it has, however slow the store is.
 */
public final class PageTime {
  private static final Duration MOST = Duration.ofMillis(1_500);

  private final long startNanos = System.nanoTime();
  private final Duration most;

  public PageTime() {
    this(MOST);
  }

  /** Sets less than the usual time, where others wait for the thread. */
  public PageTime(Duration most) {
    this.most = most;
  }

  public boolean isUp() {
    return System.nanoTime() - startNanos > most.toNanos();
  }
}
