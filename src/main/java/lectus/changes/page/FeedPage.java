package lectus.changes.page;

import java.util.Optional;
import lectus.database.SecurityObject;

/**
 * One page of a feed, read at one read version.
 *
 * @param rows number of rows appended
 * @param next where to continue: after the last entry examined, whether it passed the filter or not
 * @param reachedEnd whether nothing followed at the page's read version
 * @param pending number of entries that followed: 0 exactly if there were none; exact for a reader
 *     that came from the beginning, and near the end; otherwise an estimate; {@link
 *     lectus.changes.page.LivePage#NOT_COUNTED} unless it is shown
 * @param end why nothing will ever follow; empty as long as something may
 */
record FeedPage(
    int rows, FeedPosition next, boolean reachedEnd, long pending, Optional<FeedEnd> end) {

  /** Returns it as a page of a live source. */
  LivePage<FeedPosition> of(Rows<FeedPosition> shown, SecurityObject readers) {
    return new LivePage<>(shown, next, reachedEnd, pending, end, readers);
  }

  /** Returns the page with the following entries counted. */
  FeedPage counted(PendingEntries entries) {
    return reachedEnd ? this : new FeedPage(rows, next, false, entries.behind(next), end);
  }
}
