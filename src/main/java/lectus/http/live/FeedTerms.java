package lectus.http.live;

import java.util.OptionalLong;
import lectus.http.HttpSettings;

/**
 * What one listener wants of a live feed, beside its rows.
 *
 * @param limit after so many rows it ends, 0 or more
 * @param heartbeatMillis a sign of life comes this often, a second to a day, when there is nothing
 *     else; empty: never
 * @param timeoutMillis it ends after this time without rows; empty: never
 */
record FeedTerms(long limit, OptionalLong heartbeatMillis, OptionalLong timeoutMillis) {

  /** CouchDB takes any number; what is out of bounds here is brought into them. */
  FeedTerms {
    if (heartbeatMillis.isPresent()) {
      heartbeatMillis = OptionalLong.of(bounded(heartbeatMillis.getAsLong()));
    }
  }

  private static long bounded(long millis) {
    long most = Math.min(millis, HttpSettings.LONGEST_HEARTBEAT_MILLIS);
    return Math.max(most, HttpSettings.SHORTEST_HEARTBEAT_MILLIS);
  }
}
