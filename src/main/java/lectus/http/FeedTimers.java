package lectus.http;

import io.vertx.core.Vertx;

/**
 * What happens when a live feed has nothing to send: heartbeats, for as long as it takes, or else
 * the end after a time. On the connection's event loop.
 */
final class FeedTimers {
  private static final long NONE = -1;

  private final Vertx vertx;
  private final ChangesQuery query;
  private final long longestSilenceMillis;
  private final Runnable heartbeat;
  private final Runnable timeout;
  private long timer = NONE;

  FeedTimers(Exchange exchange, ChangesQuery query, Runnable heartbeat, Runnable timeout) {
    this.vertx = exchange.context().owner();
    this.query = query;
    this.longestSilenceMillis = longestSilence(exchange.api().settings().idleTimeoutSeconds());
    this.heartbeat = heartbeat;
    this.timeout = timeout;
  }

  /** A connection without traffic is closed, so its heart has to beat before. */
  private static long longestSilence(int idleTimeoutSeconds) {
    return idleTimeoutSeconds == 0 ? Long.MAX_VALUE : idleTimeoutSeconds * 500L;
  }

  void start() {
    if (query.heartbeatMillis().isPresent()) {
      long interval = Math.min(query.heartbeatMillis().getAsLong(), longestSilenceMillis);
      timer = vertx.setPeriodic(interval, id -> heartbeat.run());
    } else {
      // A timer of 0 ms is refused; a feed that must not wait ends after its first read.
      timer = vertx.setTimer(Math.max(1, query.timeoutMillis()), id -> timeout.run());
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
