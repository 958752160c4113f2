package lectus.http.changes;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.feed.updates.StoreSince;
import lectus.http.live.FeedQuery;
import lectus.http.message.QueryParameters;

/**
 * The parameters of {@code _db_updates}: those of {@code _changes} that make sense for it.
 *
 * @param until rows behind it are not shown; a live feed ends when it has passed it
 */
record DbUpdatesQuery(
    FeedQuery feed, StoreSince since, Optional<StoreSince> until, boolean descending) {

  /**
   * @param lastEventId what a browser's EventSource says when it comes again; counts in that feed
   *     only
   * @throws LectusException {@code bad_request}
   */
  static DbUpdatesQuery parse(QueryParameters query, Optional<String> lastEventId) {
    FeedQuery feed = FeedQuery.parse(query);
    return new DbUpdatesQuery(
        feed,
        feed.since(query, lastEventId).map(StoreSince::parse).orElse(StoreSince.BEGINNING),
        query.text("until").map(StoreSince::parse),
        query.isTrue("descending"));
  }
}
