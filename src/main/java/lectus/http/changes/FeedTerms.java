package lectus.http.changes;

import java.util.OptionalLong;
import lectus.http.HttpSettings;

/**
 * A listener's terms of a live feed, beside its rows.
 *
 * @param limit the number of rows after which it ends, 0 or more
 * @param heartbeatMillis the interval of heartbeats, a second to a day, when there is nothing else;
 *     empty: never
 * @param timeoutMillis the time without rows after which it ends; empty: never
 */
record FeedTerms(long limit, OptionalLong heartbeatMillis, OptionalLong timeoutMillis) {

  /** CouchDB takes any number; values out of bounds are clamped here. */
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
