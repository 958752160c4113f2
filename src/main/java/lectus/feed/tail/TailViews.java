package lectus.feed.tail;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.feed.View;

/**
 * The views of a tail for which somebody is there, and which of them its reader does not know about
 * yet. For one thread at a time.
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

  /** What the reader is to be told. */
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

  /** The reader could not be told of a view; it is to be told again, if somebody still sees it. */
  void addAgain(View view) {
    if (!removed.remove(view)) {
      added.add(view);
    }
  }

  /** Whether the reader holds views that nobody sees any more. */
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
