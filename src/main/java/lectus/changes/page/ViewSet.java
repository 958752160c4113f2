package lectus.changes.page;

import java.util.HashMap;
import java.util.Map;
import lectus.changes.filter.FilterIndex;

/** The views of a tail and what each shows. Not thread-safe. */
final class ViewSet {
  private final FilterIndex<View> filters = new FilterIndex<>();
  private final Map<View, FeedOptions> shapes = new HashMap<>();

  void add(View view) {
    FeedOptions options = optionsOf(view);
    shapes.put(view, options.shape());
    filters.add(view, options.filter(), options.allLeaves());
  }

  void remove(View view) {
    shapes.remove(view);
    filters.remove(view, optionsOf(view).filter());
  }

  /** Views of a database differ by their options ({@link DatabaseSource#sharing}). */
  private static FeedOptions optionsOf(View view) {
    return (FeedOptions) view.shows();
  }

  FilterIndex<View> filters() {
    return filters;
  }

  FeedOptions shape(View view) {
    return shapes.get(view);
  }
}
