package lectus.changes.page;

import java.util.List;
import lectus.changes.filter.Departures;
import lectus.changes.log.ChangeEntry;

/** Handles the entries of a page. */
@FunctionalInterface
interface EntryShow {

  /**
   * Shows or skips entries until {@code limit} rows were shown, the page is full, or all entries
   * were examined; at least one, if the limit allows.
   */
  PageRows.Progress append(List<ChangeEntry> entries, Departures departures, long limit);
}
