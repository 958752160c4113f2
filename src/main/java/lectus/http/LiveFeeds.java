package lectus.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import lectus.feed.FeedEnd;

/** The live feeds of one event loop, so that an orderly stop can end them. */
final class LiveFeeds {
  private final Executor readers;
  private final long longestSilenceMillis;
  private final Set<LiveListener<?>> listeners = new HashSet<>();
  private boolean ending;

  /**
   * @param readers runs the reading of pages
   * @param idleTimeoutSeconds after which a connection without traffic is closed; 0: never
   */
  LiveFeeds(Executor readers, int idleTimeoutSeconds) {
    this.readers = readers;
    this.longestSilenceMillis =
        idleTimeoutSeconds == 0 ? Long.MAX_VALUE : idleTimeoutSeconds * 500L;
  }

  Executor readers() {
    return readers;
  }

  /** A connection without traffic is closed, so its heart has to beat before. */
  long longestSilenceMillis() {
    return longestSilenceMillis;
  }

  /** False when the server is stopping: the feed then ends after what there is to read. */
  boolean add(LiveListener<?> listener) {
    listeners.add(listener);
    return !ending;
  }

  void remove(LiveListener<?> listener) {
    listeners.remove(listener);
  }

  void endAll() {
    ending = true;
    List<LiveListener<?>> open = new ArrayList<>(listeners);
    open.forEach(listener -> listener.end(new FeedEnd.ServerStopping()));
  }
}
