package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.database.DatabaseHandle;
import lectus.derived.StoredFeed;
import lectus.document.DocumentId;
import lectus.mango.selector.SelectorIndex;

/**
 * Finds which of many filters accept an entry. Filters by id are found by the entry's id, selectors
 * by the values they require, readers of stored feeds by the channels in which the document is. So
 * filters that do not accept the entry cost little or nothing. Not thread-safe.
 *
 * @param <V> identifies a filter
 */
public final class FilterIndex<V> {
  private final Set<V> all = new LinkedHashSet<>();
  private final Set<V> design = new LinkedHashSet<>();
  private final Map<String, List<V>> byId = new HashMap<>();
  private final SelectorIndex<V> selectors = new SelectorIndex<>();

  private final FeedReaders<V> feeds = new FeedReaders<>();

  /** The selectors that match all leaves of a document. */
  private final Set<V> ofAllLeaves = new LinkedHashSet<>();

  /**
   * @param allLeaves whether every leaf of a document is shown; a selector then matches each leaf
   */
  public void add(V who, FeedFilter filter, boolean allLeaves) {
    if (filter instanceof FeedFilter.None) {
      all.add(who);
    } else if (filter instanceof FeedFilter.DesignDocuments) {
      design.add(who);
    } else if (filter instanceof FeedFilter.DocumentIds some) {
      some.ids().forEach(id -> byId.computeIfAbsent(id, absent -> new ArrayList<>(1)).add(who));
    } else if (filter instanceof FeedFilter.Selected some) {
      selectors.add(who, some.selector());
      if (allLeaves) {
        ofAllLeaves.add(who);
      }
    } else if (filter instanceof FeedFilter.OfFeed some) {
      feeds.add(who, some, allLeaves);
    }
  }

  /**
   * @param filter the filter with which it was added
   */
  public void remove(V who, FeedFilter filter) {
    all.remove(who);
    design.remove(who);
    ofAllLeaves.remove(who);
    if (filter instanceof FeedFilter.DocumentIds some) {
      some.ids().forEach(id -> byId.computeIfPresent(id, (same, others) -> without(who, others)));
    } else if (filter instanceof FeedFilter.Selected) {
      selectors.remove(who);
    } else if (filter instanceof FeedFilter.OfFeed some) {
      feeds.remove(who, some);
    }
  }

  private static <V> List<V> without(V who, List<V> some) {
    some.remove(who);
    return some.isEmpty() ? null : some;
  }

  /** Examines entries of a database in one transaction, with the current filters. */
  public EntryMatch<V> in(ReadTransaction tx, DatabaseHandle db) {
    return new EntryMatch<>(this, tx, db);
  }

  /** Returns the stored feeds of a database of whose departures somebody is told. */
  public List<StoredFeed> departing(DatabaseHandle db) {
    List<StoredFeed> departing = new ArrayList<>();
    feeds
        .all()
        .forEach(
            (feed, readers) -> {
              if (db.feeds().current(feed).isPresent() && readers.tellsOfDepartures()) {
                departing.add(feed);
              }
            });
    return departing;
  }

  List<V> byId(String docId) {
    List<V> found = new ArrayList<>(all);
    if (DocumentId.isDesign(docId)) {
      found.addAll(design);
    }
    found.addAll(byId.getOrDefault(docId, List.of()));
    return found;
  }

  FeedReaders<V> feeds() {
    return feeds;
  }

  SelectorIndex<V> selectors() {
    return selectors;
  }

  boolean isOfAllLeaves(V who) {
    return ofAllLeaves.contains(who);
  }

  boolean anyOfAllLeaves() {
    return !ofAllLeaves.isEmpty();
  }
}
