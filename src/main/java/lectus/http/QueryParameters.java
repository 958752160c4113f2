package lectus.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * The query's parameters, decoded on demand. The last of equal names counts. As in CouchDB, unknown
 * names are ignored.
 */
public final class QueryParameters {
  public static final QueryParameters NONE = new QueryParameters(Map.of(), Set.of(), Map.of());

  private final Map<String, String> values;

  /** The values of a name before its last one. */
  private final Map<String, List<String>> earlier;

  /** Names whose values are not UTF-8; an error only for a caller that asks for one of them. */
  private final Set<String> garbled;

  private QueryParameters(
      Map<String, String> values, Set<String> garbled, Map<String, List<String>> earlier) {
    this.values = values;
    this.garbled = garbled;
    this.earlier = earlier;
  }

  /**
   * @param raw the text after the question mark
   * @throws LectusException {@code bad_request}: not percent-encoded
   */
  public static QueryParameters parse(String raw) {
    if (raw.isEmpty()) {
      return NONE;
    }
    Map<String, String> values = new LinkedHashMap<>();
    Set<String> garbled = new HashSet<>();
    Map<String, List<String>> earlier = new HashMap<>();
    for (String pair : raw.split("&")) {
      if (!pair.isEmpty()) {
        add(pair, values, garbled, earlier);
      }
    }
    return new QueryParameters(values, garbled, earlier);
  }

  private static void add(
      String pair,
      Map<String, String> values,
      Set<String> garbled,
      Map<String, List<String>> earlier) {
    int equals = pair.indexOf('=');
    int nameEnd = equals < 0 ? pair.length() : equals;
    int valueStart = equals < 0 ? pair.length() : equals + 1;
    Optional<String> name = RequestTarget.decoded(pair, 0, nameEnd);
    Optional<String> value = RequestTarget.decoded(pair, valueStart, pair.length());
    if (name.isPresent()) {
      String former = values.remove(name.get());
      if (former != null) {
        earlier.computeIfAbsent(name.get(), none -> new ArrayList<>(1)).add(former);
      }
      garbled.remove(name.get());
      value.ifPresentOrElse(it -> values.put(name.get(), it), () -> garbled.add(name.get()));
    }
  }

  public boolean isEmpty() {
    return values.isEmpty() && garbled.isEmpty();
  }

  /**
   * Returns all parameters, in the URL's order.
   *
   * @throws LectusException {@code bad_request}: a value is not UTF-8
   */
  public Map<String, String> asMap() {
    if (!garbled.isEmpty()) {
      throw RequestTarget.notUtf8();
    }
    return values;
  }

  /**
   * Returns null if absent.
   *
   * @throws LectusException {@code bad_request}: the value is not UTF-8
   */
  public String get(String name) {
    if (garbled.contains(name)) {
      throw RequestTarget.notUtf8();
    }
    return values.get(name);
  }

  /** As {@link #get}, but empty if absent. */
  public Optional<String> text(String name) {
    return Optional.ofNullable(get(name));
  }

  /**
   * Returns all values of a name, in the URL's order.
   *
   * @throws LectusException {@code bad_request}: the last one is not UTF-8
   */
  public List<String> texts(String name) {
    List<String> texts = new ArrayList<>(earlier.getOrDefault(name, List.of()));
    text(name).ifPresent(texts::add);
    return texts;
  }

  /**
   * Returns a value that is JSON.
   *
   * @throws LectusException {@code bad_request}: it is not JSON
   */
  public Optional<JsonValue> json(String name) {
    return text(name).map(RequestJson::ofParameter);
  }

  /** Returns the parameters for resources whose names are case-insensitive. */
  public QueryParameters inLowerCase() {
    Map<String, String> lowered = new LinkedHashMap<>();
    values.forEach((name, value) -> lowered.put(name.toLowerCase(Locale.ROOT), value));
    Set<String> loweredGarbled = new HashSet<>();
    garbled.forEach(name -> loweredGarbled.add(name.toLowerCase(Locale.ROOT)));
    Map<String, List<String>> loweredEarlier = new HashMap<>();
    earlier.forEach((name, some) -> loweredEarlier.put(name.toLowerCase(Locale.ROOT), some));
    return new QueryParameters(lowered, loweredGarbled, loweredEarlier);
  }

  /** Returns a boolean by the rules of documents: {@code true} counts, everything else is false. */
  public boolean isTrue(String name) {
    return "true".equals(values.get(name));
  }

  /**
   * Returns a boolean by the rules of lists.
   *
   * @throws LectusException {@code query_parse_error}
   */
  public boolean flag(String name, boolean fallback) {
    String value = get(name);
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
   * Returns a non-negative integer.
   *
   * @throws LectusException {@code query_parse_error}
   */
  public OptionalLong count(String name) {
    String value = get(name);
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
   * @param fallback the value if the parameter is absent
   * @param least the lowest allowed value
   * @param noNumber the reason if it is not an integer
   * @param tooSmall the reason if it is below {@code least}
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
   * @param fallback the value if the parameter is absent
   * @throws LectusException {@code bad_request}, with this complaint as its reason
   */
  public long number(String name, long fallback, String complaint) {
    String text = get(name);
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
