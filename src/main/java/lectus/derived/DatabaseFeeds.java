package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.json.FieldPath;
import lectus.mango.selector.LeafRead;
import lectus.mango.selector.NeededLeaves;
import lectus.mango.selector.Selector;

/** The stored feeds of a database, in the order of their numbers. */
public final class DatabaseFeeds {
  public static final DatabaseFeeds NONE = new DatabaseFeeds(List.of());

  private final List<StoredFeed> all;
  private final List<LeafRead> reads;
  private final long heapBytes;

  public DatabaseFeeds(List<StoredFeed> all) {
    this.all = List.copyOf(all);
    this.reads = reads(all);
    this.heapBytes = all.stream().mapToLong(it -> it.definition().heapBytes()).sum();
  }

  /** Returns the parts of documents that decide in which of some feeds they are. */
  public static List<LeafRead> reads(List<StoredFeed> feeds) {
    List<Selector> selectors = new ArrayList<>();
    List<FieldPath> fields = new ArrayList<>();
    for (StoredFeed feed : feeds) {
      feed.channels().selector().ifPresent(selectors::add);
      if (feed.definition().rule() instanceof FeedRule.Channels channels) {
        fields.add(FieldPath.parse(channels.path()));
      }
    }
    return NeededLeaves.of(selectors, fields);
  }

  public List<StoredFeed> all() {
    return all;
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  /** Returns the parts of documents that decide in which feeds they are. */
  public List<LeafRead> reads() {
    return reads;
  }

  public Optional<StoredFeed> named(String name) {
    return all.stream().filter(it -> it.definition().name().equals(name)).findFirst();
  }

  /** Returns the feed as it is now; empty if it is gone. */
  public Optional<StoredFeed> current(StoredFeed feed) {
    return all.stream().filter(feed::equals).findFirst();
  }

  /** Returns approximate memory, in bytes. */
  public long heapBytes() {
    return heapBytes;
  }
}
