package lectus.http.socket;

import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import lectus.http.clock.IdleClock;

/** Detects a message that takes too long to arrive completely. For the connection's event loop. */
final class MessageDeadline {
  private final IdleClock clock;
  private final Vertx vertx;
  private final long millis;
  private final Runnable late;
  private IdleClock.Timer timer;

  /**
   * @param late called again and again, until the message is over
   */
  MessageDeadline(IdleClock clock, Vertx vertx, int seconds, Runnable late) {
    this.clock = clock;
    this.vertx = vertx;
    this.millis = TimeUnit.SECONDS.toMillis(seconds);
    this.late = late;
  }

  /** Starts the clock, unless it is running. */
  void begins() {
    if (timer == null) {
      timer = clock.start(vertx, millis, late);
    }
  }

  /** Stops the clock: the message has arrived, or never will. */
  void isOver() {
    if (timer != null) {
      timer.stop();
      timer = null;
    }
  }
}
