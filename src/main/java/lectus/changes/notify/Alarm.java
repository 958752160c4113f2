package lectus.changes.notify;

import java.time.Duration;

/** Runs tasks later, one after the other. Thread-safe. */
public interface Alarm {
  /**
   * @param delay zero: as soon as possible
   */
  void in(Duration delay, Runnable task);
}
