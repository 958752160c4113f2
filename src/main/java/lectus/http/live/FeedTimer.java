package lectus.http.live;

import io.vertx.core.Vertx;
import lectus.http.clock.IdleClock;

/** Acts when a feed has had no rows for some time. For one event loop. */
final class FeedTimer {
  private final LiveFeeds feeds;
  private final FeedTerms terms;
  private IdleClock.Timer timer;

  FeedTimer(LiveFeeds feeds, FeedTerms terms) {
    this.feeds = feeds;
    this.terms = terms;
  }

  /**
   * @param heartbeat called again and again
   * @param timeout called instead if there are no heartbeats, before the connection is closed as
   *     idle
   */
  void start(Vertx vertx, Runnable heartbeat, Runnable timeout) {
    long longest = feeds.settings().longestSilenceMillis();
    if (terms.heartbeatMillis().isPresent()) {
      long pause = Math.min(terms.heartbeatMillis().getAsLong(), longest);
      timer = feeds.clock().start(vertx, pause, heartbeat);
    } else if (terms.timeoutMillis().isPresent()) {
      long patience = Math.max(1, Math.min(terms.timeoutMillis().getAsLong(), longest));
      timer = feeds.clock().start(vertx, patience, timeout);
    }
  }

  void restart() {
    if (timer != null) {
      timer.restart();
    }
  }

  void stop() {
    if (timer != null) {
      timer.stop();
    }
  }
}
