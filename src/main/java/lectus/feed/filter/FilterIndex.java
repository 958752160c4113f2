package lectus.feed.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentId;
import lectus.selector.SelectorIndex;

/**
 * Finds out which of many filters let an entry through. Filters by ids are found by the entry's id,
 * selectors by the values that they want, so that those that do not let it through cost little or
 * nothing. For one thread at a time.
 *
 * @param <V> stands for a filter
 */
public final class FilterIndex<V> {
  private final Set<V> all = new LinkedHashSet<>();
  private final Set<V> design = new LinkedHashSet<>();
  private final Map<String, List<V>> byId = new HashMap<>();
  private final SelectorIndex<V> selectors = new SelectorIndex<>();

  /** Those of the selectors that match all leaves of a document. */
  private final Set<V> ofAllLeaves = new LinkedHashSet<>();

  /**
   * @param allLeaves whether every leaf of a document is shown, where a selector matches leaves
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
    }
  }

  /**
   * @param filter with which it was added
   */
  public void remove(V who, FeedFilter filter) {
    all.remove(who);
    design.remove(who);
    ofAllLeaves.remove(who);
    if (filter instanceof FeedFilter.DocumentIds some) {
      some.ids().forEach(id -> byId.computeIfPresent(id, (same, others) -> without(who, others)));
    } else if (filter instanceof FeedFilter.Selected) {
      selectors.remove(who);
    }
  }

  private static <V> List<V> without(V who, List<V> some) {
    some.remove(who);
    return some.isEmpty() ? null : some;
  }

  /** Looks at entries of a database in one transaction, with the filters that there are now. */
  public EntryMatch<V> in(ReadTransaction tx, DatabaseHandle db) {
    return new EntryMatch<>(this, tx, db);
  }

  List<V> byId(String docId) {
    List<V> found = new ArrayList<>(all);
    if (DocumentId.isDesign(docId)) {
      found.addAll(design);
    }
    found.addAll(byId.getOrDefault(docId, List.of()));
    return found;
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
