package lectus.http.changes;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.feed.updates.StoreSince;
import lectus.http.live.FeedQuery;
import lectus.http.message.QueryParameters;

/**
 * The parameters of {@code _db_updates}: those of {@code _changes} that make sense for it.
 *
 * @param until rows after it are not shown; a live feed ends once it has passed it
 * @param descending newest first
 * @param shownBefore with newest first, the last row that a browser was shown
 */
record DbUpdatesQuery(
    FeedQuery feed,
    StoreSince since,
    Optional<StoreSince> until,
    boolean descending,
    Optional<StoreSince> shownBefore) {

  /**
   * @param lastEventId sent by a browser's EventSource when it reconnects; only used by that feed
   * @throws LectusException {@code bad_request}
   */
  static DbUpdatesQuery parse(QueryParameters query, Optional<String> lastEventId) {
    FeedQuery feed = FeedQuery.parse(query);
    return new DbUpdatesQuery(
        feed,
        feed.since(query, lastEventId).map(StoreSince::parse).orElse(StoreSince.BEGINNING),
        query.text("until").map(StoreSince::parse),
        query.isTrue("descending"),
        feed.shownBefore(lastEventId).map(StoreSince::parse));
  }
}
