package lectus.changes.filter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.Sequence;
import lectus.derived.StoredFeed;

/**
 * Which of some entries are places where documents have left stored feeds. A document's entry in
 * the changes index moves with each edit, and the place where it left does not: so such a place may
 * have no other entry any more.
 */
public final class Departures {
  public static final Departures NONE = new Departures();

  private final Map<Sequence, List<StoredFeed>> feeds = new HashMap<>();
  private final Set<Sequence> alone = new HashSet<>();

  /**
   * Notes that a document has left channels of a feed.
   *
   * @param isAlone whether the changes index has no entry there
   */
  public void add(Sequence at, StoredFeed feed, boolean isAlone) {
    feeds.computeIfAbsent(at, none -> new ArrayList<>(1)).add(feed);
    if (isAlone) {
      alone.add(at);
    }
  }

  /** Whether the document left channels of a feed there. */
  boolean has(ChangeEntry entry, StoredFeed feed) {
    return feeds.getOrDefault(entry.sequence(), List.of()).contains(feed);
  }

  /** Whether the entry is only such a place. */
  public boolean isAlone(ChangeEntry entry) {
    return alone.contains(entry.sequence());
  }
}
