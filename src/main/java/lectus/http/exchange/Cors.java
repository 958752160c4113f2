package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import java.util.Arrays;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.Reply;

/**
 * Cross-origin requests as CouchDB answers them. Vert.x' CorsHandler would not: it grants a
 * preflight whatever method and headers that asks for, and it answers 403 to a request from an
 * origin that it does not know.
 */
public final class Cors {
  private static final String EXPOSED =
      "content-type, accept-ranges, etag, server, x-couch-request-id, x-couch-update-newrev,"
          + " x-couchdb-body-time, content-range, location, retry-after";

  private Cors() {}

  /** Lets the page read the answer, if its origin is allowed. */
  static void addTo(Exchange exchange) {
    CorsSettings now = exchange.settings().cors();
    HttpServerResponse response = exchange.response();
    response.putHeader(HttpHeaders.VARY, HttpHeaders.ORIGIN);
    String origin = exchange.header(HttpHeaders.ORIGIN);
    if (origin != null && now.allows(origin)) {
      allow(now, response, origin);
      response.putHeader(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
  }

  /**
   * Answers a preflight request.
   *
   * @return whether it was one that may be granted; if not, nothing was answered
   */
  public static boolean preflight(Exchange exchange) {
    CorsSettings now = exchange.settings().cors();
    String origin = exchange.header(HttpHeaders.ORIGIN);
    String method = exchange.header(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD);
    if (origin == null || method == null || !now.allows(origin)) {
      return false;
    }
    String headers = exchange.header(HttpHeaders.ACCESS_CONTROL_REQUEST_HEADERS);
    if (!now.allowsMethod(method) || !allowsHeaders(now, headers)) {
      return false;
    }
    Reply reply =
        Reply.empty(204)
            .with(HttpHeaders.ACCESS_CONTROL_MAX_AGE, Integer.toString(now.maxAgeSeconds()))
            .with(HttpHeaders.ACCESS_CONTROL_ALLOW_METHODS, methods(now, method))
            .with(HttpHeaders.ACCESS_CONTROL_ALLOW_HEADERS, headers == null ? "" : headers);
    exchange.reply(reply);
    return true;
  }

  /** With credentials a browser takes a star for the name of a method. */
  private static String methods(CorsSettings settings, String asked) {
    return settings.methods().contains(CorsSettings.ALL)
        ? asked
        : String.join(", ", settings.methods());
  }

  private static void allow(CorsSettings settings, HttpServerResponse response, String origin) {
    response.putHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    if (settings.credentials()) {
      response.putHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    }
  }

  private static boolean allowsHeaders(CorsSettings settings, String requested) {
    return requested == null
        || requested.isBlank()
        || Arrays.stream(requested.trim().split("\\s*,\\s*")).allMatch(settings::allowsHeader);
  }
}
