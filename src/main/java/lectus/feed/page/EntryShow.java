package lectus.feed.page;

import java.util.List;
import lectus.changes.ChangeEntry;

/** What is made of the entries of a page. */
@FunctionalInterface
interface EntryShow {

  /**
   * Shows entries, or passes over them, until {@code limit} rows were shown, the page is full, or
   * all were looked at; one at least, if the limit lets it.
   */
  PageRows.Progress append(List<ChangeEntry> entries, long limit);
}
