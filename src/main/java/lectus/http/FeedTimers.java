package lectus.http;

import io.vertx.core.Vertx;

/**
 * What happens when a live feed has nothing to send: heartbeats, for as long as it takes, or else
 * the end after a time. On the connection's event loop.
 */
final class FeedTimers {
  private static final long NONE = -1;

  private final Vertx vertx;
  private final FeedTerms terms;
  private final long longestSilenceMillis;
  private final Runnable heartbeat;
  private final Runnable timeout;
  private long timer = NONE;

  FeedTimers(
      Vertx vertx,
      FeedTerms terms,
      long longestSilenceMillis,
      Runnable heartbeat,
      Runnable timeout) {
    this.vertx = vertx;
    this.terms = terms;
    this.longestSilenceMillis = longestSilenceMillis;
    this.heartbeat = heartbeat;
    this.timeout = timeout;
  }

  void start() {
    if (terms.heartbeatMillis().isPresent()) {
      long interval = Math.min(terms.heartbeatMillis().getAsLong(), longestSilenceMillis);
      timer = vertx.setPeriodic(interval, id -> heartbeat.run());
    } else if (terms.timeoutMillis().isPresent()) {
      // A timer of 0 ms is refused; a feed that must not wait ends after its first read.
      long wait = Math.max(1, terms.timeoutMillis().getAsLong());
      timer = vertx.setTimer(wait, id -> timeout.run());
    }
  }

  /** Counts from now on, because something was sent. */
  void restart() {
    stop();
    start();
  }

  void stop() {
    if (timer != NONE) {
      vertx.cancelTimer(timer);
      timer = NONE;
    }
  }
}
