package lectus.document.alldocs;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lectus.database.Partition;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/** Reads the parameters of a list by name, as text or as JSON; CouchDB's sentences for the rest. */
record ListParameters(Map<String, String> values) {
  /** Longs have no more digits than this for certain. */
  private static final int MOST_DIGITS = 18;

  /** The first of the names that is given. */
  Optional<ListKey> key(String... names) {
    for (String name : names) {
      String json = values.get(name);
      if (json != null) {
        return Optional.of(new ListKey(parse(name, json)));
      }
    }
    return Optional.empty();
  }

  Optional<List<ListKey>> keys() {
    String json = values.get("keys");
    if (json == null) {
      return Optional.empty();
    }
    if (!(parse("keys", json) instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("`keys` body member must be an array.");
    }
    return Optional.of(array.elements().stream().map(ListKey::new).toList());
  }

  /** {@code partition}. */
  Optional<Partition> partition() {
    return Optional.ofNullable(plain("partition")).map(Partition::of);
  }

  boolean flag(String name, boolean otherwise) {
    String text = plain(name);
    if (text == null) {
      return otherwise;
    }
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw unparsable("Invalid boolean parameter: \"" + text + '"');
    };
  }

  /** A number from 0 on; what no long holds is as good as unlimited. */
  long count(String name, long otherwise) {
    String text = plain(name);
    if (text == null) {
      return otherwise;
    }
    boolean negative = text.startsWith("-");
    String digits = negative ? text.substring(1) : text;
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw unparsable("Invalid value for integer: \"" + text + '"');
    }
    if (negative) {
      throw unparsable("Invalid value for positive integer: \"" + text + '"');
    }
    return digits.length() > MOST_DIGITS ? Long.MAX_VALUE : Long.parseLong(digits);
  }

  /** A member of a body may be a string where the query has bare text. */
  private String plain(String name) {
    String text = values.get(name);
    if (text != null
        && text.startsWith("\"")
        && parse(name, text) instanceof JsonValue.JsonString quoted) {
      return quoted.value();
    }
    return text;
  }

  private static JsonValue parse(String name, String json) {
    try {
      return JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    } catch (LectusException invalid) {
      throw unparsable("Invalid JSON in `" + name + "`: " + invalid.error().reason());
    }
  }

  private static LectusException unparsable(String reason) {
    return LectusException.badRequest("query_parse_error", reason);
  }
}
