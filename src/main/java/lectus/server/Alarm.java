package lectus.server;

import java.time.Duration;

/** Runs tasks later, one after the other. For any thread. */
interface Alarm {
  /**
   * @param delay zero: as soon as may be
   */
  void in(Duration delay, Runnable task);
}
