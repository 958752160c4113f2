package lectus.changes.filter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.derived.StoredFeed;

/**
 * Finds the readers of stored feeds by channel: those of other channels cost nothing. Not
 * thread-safe.
 *
 * @param <V> identifies a reader
 */
final class FeedReaders<V> {
  private final Map<StoredFeed, OfFeed<V>> feeds = new HashMap<>();

  /** The readers of one feed. */
  static final class OfFeed<V> {
    private final Map<V, FeedView> views = new HashMap<>();
    private final Map<String, List<V>> byChannel = new HashMap<>();

    /** Number of readers who are told of documents that leave. */
    private int told;

    Set<V> all() {
      return views.keySet();
    }

    FeedView view(V who) {
      return views.get(who);
    }

    List<V> ofChannel(String channel) {
      return byChannel.getOrDefault(channel, List.of());
    }

    /** Whether somebody is told of documents that leave. */
    boolean tellsOfDepartures() {
      return told > 0;
    }

    private void add(V who, FeedView view) {
      views.put(who, view);
      view.channels()
          .forEach(it -> byChannel.computeIfAbsent(it, none -> new ArrayList<>(1)).add(who));
      told += view.tellsOfDepartures() ? 1 : 0;
    }

    private void remove(V who) {
      FeedView view = views.remove(who);
      if (view == null) {
        return; // it was not completely added
      }
      told -= view.tellsOfDepartures() ? 1 : 0;
      for (String channel : view.channels()) {
        byChannel.computeIfPresent(
            channel,
            (same, others) -> {
              others.remove(who);
              return others.isEmpty() ? null : others;
            });
      }
    }
  }

  void add(V who, FeedFilter.OfFeed filter, boolean allLeaves) {
    feeds
        .computeIfAbsent(filter.feed().orElseThrow(), none -> new OfFeed<>())
        .add(who, new FeedView(filter, allLeaves));
  }

  void remove(V who, FeedFilter.OfFeed filter) {
    feeds.computeIfPresent(
        filter.feed().orElseThrow(),
        (same, readers) -> {
          readers.remove(who);
          return readers.all().isEmpty() ? null : readers;
        });
  }

  Map<StoredFeed, OfFeed<V>> all() {
    return feeds;
  }
}
