package lectus.changes.notify;

import java.time.Duration;

/** A part of a poller's work. On one thread. */
public interface Poll {
  void run();

  /** Returns how long nothing is due, as far as is known by now. */
  Duration untilNext();
}
