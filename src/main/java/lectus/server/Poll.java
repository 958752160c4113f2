package lectus.server;

import java.time.Duration;

/** A part of what a poller looks at. On one thread. */
interface Poll {
  /** Looks at what is due. */
  void run();

  /** How long nothing is due, as far as is known by now. */
  Duration untilNext();
}
