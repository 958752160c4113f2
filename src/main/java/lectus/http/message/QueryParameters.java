package lectus.http.message;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * The parameters behind the question mark, decoded when somebody asks. Of a name that comes twice
 * the last one stands. Names nobody asks for are ignored, as CouchDB does.
 */
public final class QueryParameters {
  public static final QueryParameters NONE = new QueryParameters(Map.of());

  private final Map<String, String> values;

  private QueryParameters(Map<String, String> values) {
    this.values = values;
  }

  /**
   * @param raw the text behind the question mark
   * @throws LectusException {@code bad_request}: not percent-encoded UTF-8
   */
  public static QueryParameters parse(String raw) {
    if (raw.isEmpty()) {
      return NONE;
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (String pair : raw.split("&")) {
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        int nameEnd = equals < 0 ? pair.length() : equals;
        int valueStart = equals < 0 ? pair.length() : equals + 1;
        String name = RequestTarget.decode(pair, 0, nameEnd);
        values.remove(name);
        values.put(name, RequestTarget.decode(pair, valueStart, pair.length()));
      }
    }
    return new QueryParameters(values);
  }

  public boolean isEmpty() {
    return values.isEmpty();
  }

  /** In the order in which they stand in the URL. */
  public Map<String, String> asMap() {
    return values;
  }

  /** Null if absent. */
  public String get(String name) {
    return values.get(name);
  }

  public Optional<String> text(String name) {
    return Optional.ofNullable(values.get(name));
  }

  /**
   * A value that is JSON.
   *
   * @throws LectusException {@code bad_request}: it is none
   */
  public Optional<JsonValue> json(String name) {
    return text(name).map(RequestJson::ofParameter);
  }

  /** For resources that take their names in any case. */
  public QueryParameters inLowerCase() {
    Map<String, String> lowered = new LinkedHashMap<>();
    values.forEach((name, value) -> lowered.put(name.toLowerCase(Locale.ROOT), value));
    return new QueryParameters(lowered);
  }

  /** As documents take booleans: {@code true} counts, everything else is false. */
  public boolean isTrue(String name) {
    return "true".equals(values.get(name));
  }

  /**
   * As lists take booleans.
   *
   * @throws LectusException {@code query_parse_error}
   */
  public boolean flag(String name, boolean fallback) {
    String value = values.get(name);
    if (value == null) {
      return fallback;
    }
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw queryParseError("Invalid boolean parameter: \"" + value + "\"");
    };
  }

  /**
   * A whole number that is not negative.
   *
   * @throws LectusException {@code query_parse_error}
   */
  public OptionalLong count(String name) {
    String value = values.get(name);
    if (value == null) {
      return OptionalLong.empty();
    }
    try {
      long count = Long.parseLong(value);
      if (count >= 0) {
        return OptionalLong.of(count);
      }
    } catch (NumberFormatException e) {
      throw queryParseError("Invalid value for integer: \"" + value + "\"");
    }
    throw queryParseError("Invalid value for positive integer: \"" + value + "\"");
  }

  /**
   * @param fallback if the parameter is absent
   * @param least what it may be
   * @param noNumber the reason where it is no whole number
   * @param tooSmall the reason where it is one, but below {@code least}
   * @throws LectusException {@code bad_request}
   */
  public long number(String name, long fallback, long least, String noNumber, String tooSmall) {
    long number = number(name, fallback, noNumber);
    if (values.containsKey(name) && number < least) {
      throw LectusException.badRequest(tooSmall);
    }
    return number;
  }

  /**
   * @param fallback if the parameter is absent
   * @throws LectusException {@code bad_request}, with this complaint as its reason
   */
  public long number(String name, long fallback, String complaint) {
    String text = values.get(name);
    if (text == null) {
      return fallback;
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw LectusException.badRequest(complaint);
    }
  }

  static LectusException queryParseError(String reason) {
    return LectusException.badRequest("query_parse_error", reason);
  }
}
