package lectus.http;

import io.vertx.core.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Header names and values of most answers, encoded once. */
public final class Headers {
  public static final CharSequence ACCEL_BUFFERING =
      HttpHeaders.createOptimized("X-Accel-Buffering");
  static final CharSequence ALLOW = HttpHeaders.createOptimized("Allow");
  public static final CharSequence CACHE_CONTROL = HttpHeaders.createOptimized("Cache-Control");
  public static final CharSequence CONNECTION = HttpHeaders.createOptimized("Connection");
  public static final CharSequence CONTENT_LENGTH = HttpHeaders.createOptimized("Content-Length");
  public static final CharSequence CONTENT_TYPE = HttpHeaders.createOptimized("Content-Type");
  public static final CharSequence CONTENT_TYPE_OPTIONS =
      HttpHeaders.createOptimized("X-Content-Type-Options");
  public static final CharSequence DATE = HttpHeaders.createOptimized("Date");
  public static final CharSequence ETAG = HttpHeaders.createOptimized("ETag");
  public static final CharSequence FORWARDED = HttpHeaders.createOptimized("Forwarded");
  public static final CharSequence FORWARDED_FOR = HttpHeaders.createOptimized("X-Forwarded-For");
  public static final CharSequence FORWARDED_HOST = HttpHeaders.createOptimized("X-Forwarded-Host");
  public static final CharSequence FORWARDED_PROTO =
      HttpHeaders.createOptimized("X-Forwarded-Proto");
  public static final CharSequence FORWARDED_SSL = HttpHeaders.createOptimized("X-Forwarded-Ssl");
  public static final CharSequence METHOD_OVERRIDE =
      HttpHeaders.createOptimized("X-HTTP-Method-Override");
  public static final CharSequence LAST_EVENT_ID = HttpHeaders.createOptimized("Last-Event-ID");
  public static final CharSequence LOCATION = HttpHeaders.createOptimized("Location");
  static final CharSequence RETRY_AFTER = HttpHeaders.createOptimized("Retry-After");
  public static final CharSequence PROXIED_NAME =
      HttpHeaders.createOptimized("X-Auth-CouchDB-UserName");
  public static final CharSequence PROXIED_ROLES =
      HttpHeaders.createOptimized("X-Auth-CouchDB-Roles");
  public static final CharSequence PROXIED_TOKEN =
      HttpHeaders.createOptimized("X-Auth-CouchDB-Token");
  public static final CharSequence TRACEPARENT = HttpHeaders.createOptimized("traceparent");
  public static final CharSequence VIA = HttpHeaders.createOptimized("Via");
  public static final CharSequence SERVER = HttpHeaders.createOptimized("Server");
  public static final CharSequence BODY_TIME = HttpHeaders.createOptimized("X-CouchDB-Body-Time");
  public static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("X-Couch-Request-ID");
  public static final CharSequence CHALLENGE = HttpHeaders.createOptimized("WWW-Authenticate");
  public static final CharSequence WANTED_CHALLENGE =
      HttpHeaders.createOptimized("X-CouchDB-WWW-Authenticate");
  public static final CharSequence WEBSOCKET_VERSION =
      HttpHeaders.createOptimized("Sec-WebSocket-Version");

  /** The only version of WebSocket (RFC 6455). */
  public static final String WEBSOCKET_13 = "13";

  public static final CharSequence EVENT_STREAM = HttpHeaders.createOptimized("text/event-stream");
  public static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  public static final CharSequence MUST_REVALIDATE = HttpHeaders.createOptimized("must-revalidate");
  public static final CharSequence NOSNIFF = HttpHeaders.createOptimized("nosniff");
  public static final CharSequence ZERO = HttpHeaders.createOptimized("0");
  public static final CharSequence CLOSE = HttpHeaders.createOptimized("close");

  private static final int FIRST_BEYOND_ASCII = 0x80;

  private Headers() {}

  /**
   * Returns the text of a header as clients mean it. HTTP says nothing of octets beyond ASCII (RFC
   * 9110, section 5.5): they are UTF-8 if they can be, and Latin-1 otherwise.
   *
   * @param octets as the parser has read them, one a character
   */
  public static String text(String octets) {
    int at = 0;
    while (at < octets.length() && octets.charAt(at) < FIRST_BEYOND_ASCII) {
      at++;
    }
    if (at == octets.length()) {
      return octets;
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(octets))).toString();
    } catch (CharacterCodingException latin1) {
      return octets;
    }
  }

  /** Returns a text as the value of a header: its UTF-8, an octet a character. */
  public static String octets(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  /** Returns what may be sent of any text: a control character would end the header. */
  public static String sendable(String text) {
    return octets(text.replaceAll("\\p{Cntrl}", " ").strip());
  }

  /** Returns the octets of a header, over which signatures are. */
  public static byte[] bytes(String octets) {
    return octets.getBytes(StandardCharsets.ISO_8859_1);
  }
}
