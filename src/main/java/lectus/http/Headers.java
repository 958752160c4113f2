package lectus.http;

import io.vertx.core.http.HttpHeaders;

/** Header names and values that most answers carry, encoded once. */
final class Headers {
  static final CharSequence ALLOW = HttpHeaders.createOptimized("Allow");
  static final CharSequence CACHE_CONTROL = HttpHeaders.createOptimized("Cache-Control");
  static final CharSequence CONNECTION = HttpHeaders.createOptimized("Connection");
  static final CharSequence CONTENT_LENGTH = HttpHeaders.createOptimized("Content-Length");
  static final CharSequence CONTENT_TYPE = HttpHeaders.createOptimized("Content-Type");
  static final CharSequence DATE = HttpHeaders.createOptimized("Date");
  static final CharSequence ETAG = HttpHeaders.createOptimized("ETag");
  static final CharSequence LAST_EVENT_ID = HttpHeaders.createOptimized("Last-Event-ID");
  static final CharSequence LOCATION = HttpHeaders.createOptimized("Location");
  static final CharSequence RETRY_AFTER = HttpHeaders.createOptimized("Retry-After");
  static final CharSequence SERVER = HttpHeaders.createOptimized("Server");
  static final CharSequence BODY_TIME = HttpHeaders.createOptimized("X-CouchDB-Body-Time");
  static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("X-Couch-Request-ID");
  static final CharSequence WEBSOCKET_VERSION =
      HttpHeaders.createOptimized("Sec-WebSocket-Version");

  static final CharSequence EVENT_STREAM = HttpHeaders.createOptimized("text/event-stream");
  static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  static final CharSequence MUST_REVALIDATE = HttpHeaders.createOptimized("must-revalidate");
  static final CharSequence ZERO = HttpHeaders.createOptimized("0");
  static final CharSequence CLOSE = HttpHeaders.createOptimized("close");

  private Headers() {}
}
