package lectus.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The live feeds of one event loop, so that an orderly stop can end them. */
final class LiveFeeds {
  private final Set<LiveFeed> feeds = new HashSet<>();
  private boolean ending;

  /** False when the server is stopping: the feed then ends after what there is to read. */
  boolean add(LiveFeed feed) {
    feeds.add(feed);
    return !ending;
  }

  void remove(LiveFeed feed) {
    feeds.remove(feed);
  }

  int count() {
    return feeds.size();
  }

  void endAll() {
    ending = true;
    List<LiveFeed> open = new ArrayList<>(feeds);
    open.forEach(LiveFeed::end);
  }
}
