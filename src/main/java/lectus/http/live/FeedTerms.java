package lectus.http.live;

import java.util.OptionalLong;

/**
 * What one listener wants of a live feed, beside its rows.
 *
 * @param limit after so many rows it ends, 0 or more
 * @param heartbeatMillis a sign of life comes this often when there is nothing else; empty: never
 * @param timeoutMillis it ends after this time without rows; empty: never
 */
record FeedTerms(long limit, OptionalLong heartbeatMillis, OptionalLong timeoutMillis) {}
