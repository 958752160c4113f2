package lectus.document.alldocs;

import java.util.List;
import java.util.Locale;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * One argument of a list: from the URL, where everything is text, or from a body, where everything
 * is JSON. Both are read as CouchDB reads them, and refused with CouchDB's sentences.
 */
sealed interface ListArgument {
  /** A long holds any number of so many digits. */
  int MOST_DIGITS = 18;

  /** Characters of what was said that an error repeats. */
  int LONGEST_SHOWN = 1_000;

  /** A parameter of the URL, decoded. */
  record Parameter(String text) implements ListArgument {
    @Override
    public JsonValue json() {
      return RequestJson.ofParameter(text);
    }

    @Override
    public String integer() {
      return text.startsWith("+") ? text.substring(1) : text;
    }

    @Override
    public String shown() {
      return text.isEmpty() ? "[]" : '"' + shortened(text) + '"';
    }

    @Override
    public String shownAsBoolean() {
      return shown();
    }
  }

  /** A member of a body. */
  record Member(JsonValue json) implements ListArgument {
    @Override
    public String text() {
      if (json instanceof JsonValue.JsonString string) {
        return string.value();
      }
      JsonBuffer text = new JsonBuffer(64);
      json.writeTo(text);
      return text.toString();
    }

    /** A string of digits is no number here. */
    @Override
    public String integer() {
      return json instanceof JsonValue.JsonNumber number ? number.text() : "";
    }

    @Override
    public String shown() {
      String text = shortened(text());
      return json instanceof JsonValue.JsonString ? "<<\"" + text + "\">>" : text;
    }

    @Override
    public String shownAsBoolean() {
      String text = shortened(text());
      return json instanceof JsonValue.JsonString ? '"' + text + '"' : text;
    }
  }

  /**
   * @throws LectusException {@code bad_request}: it is no JSON
   */
  JsonValue json();

  String text();

  /** Its digits, perhaps behind a minus; any other text if it is no number. */
  String integer();

  /** As error messages quote it, in Erlang's notation. */
  String shown();

  /** The same where a boolean was expected. */
  String shownAsBoolean();

  default ListKey key() {
    return new ListKey(json());
  }

  /**
   * @throws LectusException {@code query_parse_error}: neither true nor false, in whatever case
   */
  default boolean flag() {
    return switch (text().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw unparsable("Invalid boolean parameter: " + shownAsBoolean());
    };
  }

  /**
   * A number from 0 on; what no long holds is as good as unlimited.
   *
   * @throws LectusException {@code query_parse_error}
   */
  default long count() {
    String integer = integer();
    boolean negative = integer.startsWith("-");
    String digits = negative ? integer.substring(1) : integer;
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw unparsable("Invalid value for integer: " + shown());
    }
    if (negative && !digits.chars().allMatch(c -> c == '0')) {
      throw unparsable("Invalid value for positive integer: " + shown());
    }
    return digits.length() > MOST_DIGITS ? Long.MAX_VALUE : Long.parseLong(digits);
  }

  /**
   * @throws LectusException {@code query_parse_error}: it is none of these
   */
  default void checkOneOf(String name, String... legal) {
    if (!List.of(legal).contains(text())) {
      throw unparsable("Invalid value for `" + name + "`.");
    }
  }

  private static String shortened(String text) {
    return text.length() > LONGEST_SHOWN ? text.substring(0, LONGEST_SHOWN) + "…" : text;
  }

  static LectusException unparsable(String reason) {
    return LectusException.badRequest("query_parse_error", reason);
  }
}
