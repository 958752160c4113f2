package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** What several resources say and check. */
public final class Requests {
  private Requests() {}

  /** The answer to a method that the resource does not have. */
  public static LectusException notAllowed(String allow) {
    return new LectusException(new LectusError.MethodNotAllowed(allow));
  }

  public static LectusException notImplemented(String sentence) {
    return new LectusException(new LectusError.NotImplemented(sentence));
  }

  /**
   * @throws LectusException {@code bad_content_type} (415)
   */
  public static void wantJson(Exchange exchange) {
    wantContentType(exchange, "application/json");
  }

  /**
   * @throws LectusException {@code bad_content_type} (415)
   */
  public static void wantContentType(Exchange exchange, String media) {
    String type = exchange.header(HttpHeaders.CONTENT_TYPE);
    if (type == null || !mediaOf(type).equalsIgnoreCase(media)) {
      throw new LectusException(
          new LectusError.UnsupportedMediaType("Content-Type must be " + media));
    }
  }

  private static String mediaOf(String type) {
    int semicolon = type.indexOf(';');
    return (semicolon < 0 ? type : type.substring(0, semicolon)).trim();
  }
}
