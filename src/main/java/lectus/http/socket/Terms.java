package lectus.http.socket;

import java.util.OptionalLong;
import lectus.feed.page.FeedOptions;

/**
 * What a subscription's rows show, how many there may be, and when.
 *
 * @param rows what they show
 * @param limit rows after which it ends
 * @param heartbeatMillis a heartbeat comes this often when there is nothing else; empty: never
 * @param credits rows that may be sent before the client asks for more; empty: not counted
 */
public record Terms(
    WrittenOptions rows, long limit, OptionalLong heartbeatMillis, OptionalLong credits) {

  /**
   * What the rows show. Not for an event loop.
   *
   * @throws lectus.error.LectusException {@code bad_request}
   */
  public FeedOptions options() {
    return rows.compile();
  }
}
