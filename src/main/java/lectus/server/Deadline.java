package lectus.server;

import java.time.Duration;

/**
 * When somebody who waits is to be answered.
 *
 * @param isSet false: whenever it may be
 * @param nanoTime as {@link System#nanoTime} tells it
 */
record Deadline(boolean isSet, long nanoTime) {
  static final Deadline NONE = new Deadline(false, 0);

  static Deadline in(Duration time) {
    return new Deadline(true, System.nanoTime() + time.toNanos());
  }

  boolean isOver(long now) {
    return isSet && now - nanoTime >= 0;
  }
}
