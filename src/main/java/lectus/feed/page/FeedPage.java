package lectus.feed.page;

import java.util.Optional;
import lectus.feed.FeedEnd;

/**
 * One page of a feed, read at one read version.
 *
 * @param rows how many were appended
 * @param next where to go on: behind the last entry looked at, whether a filter let it through or
 *     not
 * @param reachedEnd whether nothing followed at the page's read version
 * @param pending entries that followed: 0 if none and never else, exact for a reader that came from
 *     the beginning and near the end, an estimate in between; {@link
 *     lectus.feed.LivePage#NOT_COUNTED} unless somebody is shown it
 * @param end why nothing will ever follow; empty as long as something may
 */
record FeedPage(
    int rows, FeedPosition next, boolean reachedEnd, long pending, Optional<FeedEnd> end) {

  /** The same, with what follows counted. */
  FeedPage counted(PendingEntries entries) {
    return reachedEnd ? this : new FeedPage(rows, next, false, entries.behind(next), end);
  }
}
