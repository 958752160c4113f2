package lectus.http;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.feed.StoreSince;

/**
 * The parameters of {@code _db_updates}: those of {@code _changes} that make sense for it.
 *
 * @param form of a live feed; empty for the normal one
 */
record DbUpdatesQuery(
    Optional<FeedForm> form, StoreSince since, FeedTerms terms, boolean descending) {

  /**
   * @throws LectusException {@code bad_request}
   */
  static DbUpdatesQuery parse(QueryParameters query) {
    String since = query.text("since").or(() -> query.text("last-event-id")).orElse("0");
    return new DbUpdatesQuery(
        ChangesQuery.form(query),
        StoreSince.parse(since),
        ChangesQuery.terms(query),
        query.isTrue("descending"));
  }
}
