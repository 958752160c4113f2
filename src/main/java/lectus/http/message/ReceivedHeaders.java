package lectus.http.message;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import lectus.error.LectusException;

/**
 * The headers of a part that came.
 *
 * @param values by name in lower case; of equal names the last
 */
record ReceivedHeaders(Map<String, String> values) {
  /** A line break within a header (RFC 822, section 3.1.1). */
  private static final Pattern FOLD = Pattern.compile("\r\n(?=[ \t])");

  /**
   * @throws LectusException {@code bad_request}
   */
  static ReceivedHeaders of(String headers) {
    Map<String, String> values = new HashMap<>();
    for (String line : FOLD.matcher(headers.stripTrailing()).replaceAll("").split("\r\n")) {
      int colon = line.indexOf(':');
      if (colon < 0 && !line.isEmpty()) {
        throw LectusException.badRequest("bad part header");
      }
      String name = line.substring(0, Math.max(colon, 0)).strip().toLowerCase(Locale.ROOT);
      values.put(name, line.substring(colon + 1).strip());
    }
    return new ReceivedHeaders(values);
  }

  Optional<String> get(String name) {
    return Optional.ofNullable(values.get(name));
  }
}
