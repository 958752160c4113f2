package lectus.server.writing;

import java.time.Duration;

/**
 * The time by which a waiting client is to be answered.
 *
 * @param isSet false: there is no deadline
 * @param nanoTime by {@link System#nanoTime}
 */
record Deadline(boolean isSet, long nanoTime) {
  static final Deadline NONE = new Deadline(false, 0);

  static Deadline in(Duration time) {
    return new Deadline(true, System.nanoTime() + time.toNanos());
  }

  boolean isOver(long now) {
    return isSet && now - nanoTime >= 0;
  }

  /**
   * Returns how much time is left.
   *
   * @param most at most, or without a deadline
   */
  Duration left(Duration most) {
    Duration left = Duration.ofNanos(nanoTime - System.nanoTime());
    return isSet && left.compareTo(most) < 0 ? left : most;
  }
}
