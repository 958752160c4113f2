package lectus.server;

import java.time.Duration;

/**
 * When a client that waits is to be answered.
 *
 * @param isSet false: there is no deadline
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
