package lectus.http;

import io.vertx.core.http.HttpHeaders;
import java.util.Arrays;

/**
 * Names the state that an answer shows, for a client that asks again (RFC 9110, 8.8.3).
 *
 * @param text without quotes
 */
record EntityTag(String text) {

  /**
   * Whether the client has this state already: an {@code If-None-Match} lists the tag, weak or not.
   * {@code *} does not count, as CouchDB has it.
   */
  boolean isSeenBy(Exchange exchange) {
    String seen = exchange.header(HttpHeaders.IF_NONE_MATCH);
    return seen != null && Arrays.stream(seen.split(",")).anyMatch(this::equalsTag);
  }

  private boolean equalsTag(String tag) {
    return text.equals(tag.trim().replaceFirst("^W/", "").replace("\"", ""));
  }

  String header() {
    return '"' + text + '"';
  }
}
