package lectus.feed;

import java.time.Duration;

/**
 * How long one transaction reads for a page before it leaves the rest to the next: far less than
 * the five seconds that it has, however slow the store is.
 */
public final class PageTime {
  private static final Duration MOST = Duration.ofMillis(1_500);

  private final long startNanos = System.nanoTime();

  public boolean isUp() {
    return System.nanoTime() - startNanos > MOST.toNanos();
  }
}
