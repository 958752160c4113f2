package lectus.http.api;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** Checks the headers that are checked on every request. */
final class RequestFields {
  private static final String CONTINUE = "100-continue";

  private RequestFields() {}

  /**
   * @throws LectusException {@code bad_request}: a value has control characters, which HTTP/1's
   *     parser refuses and HTTP/2's does not (RFC 9113, section 8.2.1); {@code expectation_failed}
   */
  static void check(HttpServerRequest request) {
    for (Map.Entry<String, String> field : request.headers()) {
      if (hasControls(field.getValue())) {
        throw LectusException.badRequest("A header has control characters.");
      }
    }
    for (String expectation : request.headers().getAll(HttpHeaders.EXPECT)) {
      if (!expectation.isBlank() && !expectation.trim().equalsIgnoreCase(CONTINUE)) {
        throw new LectusException(
            new LectusError.ExpectationFailed("Nothing but 100-continue can be expected."));
      }
    }
  }

  private static boolean hasControls(String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if ((c < ' ' && c != '\t') || c == 0x7f) {
        return true;
      }
    }
    return false;
  }
}
