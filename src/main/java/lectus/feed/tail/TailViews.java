package lectus.feed.tail;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.feed.View;

/**
 * The views of a tail that have listeners, and those that its reader does not know yet. Not
 * thread-safe.
 */
final class TailViews {
  private final Map<Object, Seats> views = new HashMap<>();
  private Set<View> added = new LinkedHashSet<>();
  private List<View> removed = new ArrayList<>();

  private static final class Seats {
    private final View view;
    private int count;

    Seats(View view) {
      this.view = view;
    }
  }

  /** The changes to report to the reader. */
  record Changes(Set<View> added, List<View> removed) {}

  View take(Object shows) {
    Seats seats = views.get(shows);
    if (seats == null) {
      seats = new Seats(new View(shows));
      views.put(shows, seats);
      added.add(seats.view);
    }
    seats.count++;
    return seats.view;
  }

  void leave(View view) {
    Seats seats = views.get(view.shows());
    seats.count--;
    if (seats.count == 0) {
      views.remove(view.shows());
      if (!added.remove(view)) {
        removed.add(view);
      }
    }
  }

  /** The reader could not add a view; report it again if it still has listeners. */
  void addAgain(View view) {
    if (!removed.remove(view)) {
      added.add(view);
    }
  }

  /** Whether the reader has views that have no listeners any more. */
  boolean anyRemoved() {
    return !removed.isEmpty();
  }

  Changes takeChanges() {
    Changes changes = new Changes(added, removed);
    added = new LinkedHashSet<>();
    removed = new ArrayList<>();
    return changes;
  }
}
