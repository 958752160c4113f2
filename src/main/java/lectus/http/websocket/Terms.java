package lectus.http.websocket;

import java.util.OptionalLong;
import lectus.changes.page.FeedOptions;

/**
 * The content of a subscription's rows, their number, and their timing.
 *
 * @param rows what they show
 * @param limit the number of rows after which it ends
 * @param heartbeatMillis the interval of heartbeats when there is nothing else; empty: never
 * @param credits the number of rows that may be sent before the client grants more; empty: not
 *     counted
 */
public record Terms(
    WrittenOptions rows, long limit, OptionalLong heartbeatMillis, OptionalLong credits) {

  /**
   * Returns what the rows show. Not for an event loop.
   *
   * @throws lectus.error.LectusException {@code bad_request}
   */
  public FeedOptions options() {
    return rows.compile();
  }
}
