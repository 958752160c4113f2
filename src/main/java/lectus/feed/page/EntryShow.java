package lectus.feed.page;

import java.util.List;
import lectus.changes.ChangeEntry;
import lectus.feed.filter.Departures;

/** Handles the entries of a page. */
@FunctionalInterface
interface EntryShow {

  /**
   * Shows or skips entries until {@code limit} rows were shown, the page is full, or all entries
   * were examined; at least one, if the limit allows.
   */
  PageRows.Progress append(List<ChangeEntry> entries, Departures departures, long limit);
}
