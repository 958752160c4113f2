package lectus.http.socket;

import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import lectus.http.clock.IdleClock;

/** Notices a message that takes too long to come as a whole. For the connection's event loop. */
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

  /** Counts from now on, unless it does already. */
  void begins() {
    if (timer == null) {
      timer = clock.start(vertx, millis, late);
    }
  }

  /** The message has come, or never will. */
  void isOver() {
    if (timer != null) {
      timer.stop();
      timer = null;
    }
  }
}
