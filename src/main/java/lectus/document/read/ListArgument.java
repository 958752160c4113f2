package lectus.document.read;

import java.util.List;
import java.util.Locale;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * One argument of a query of a list or a view: from the URL, where every value is text, or from a
 * body, where every value is JSON. Both are parsed as CouchDB does, and refused with CouchDB's
 * sentences.
 */
public sealed interface ListArgument {
  /** A long holds any number with this many digits. */
  int MAX_DIGITS = 18;

  /** Maximum number of characters of an argument that an error repeats. */
  int LONGEST_SHOWN = 1_000;

  /** A URL parameter, decoded. */
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

  /** A member of a JSON body. */
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

    /** A JSON string of digits is not a number here. */
    @Override
    public String integer() {
      return json instanceof JsonValue.JsonNumber number ? number.text() : "";
    }

    @Override
    public String shown() {
      String text = shortened(text());
      String quoted = text.isEmpty() ? "<<>>" : "<<\"" + text + "\">>";
      return json instanceof JsonValue.JsonString ? quoted : text;
    }

    @Override
    public String shownAsBoolean() {
      return json instanceof JsonValue.JsonString string
          ? new Parameter(string.value()).shown()
          : shortened(text());
    }
  }

  /**
   * @throws LectusException {@code bad_request}: not JSON
   */
  JsonValue json();

  String text();

  /** Returns its digits, with an optional minus sign; any other text if it is not a number. */
  String integer();

  /** Returns it as error messages quote it, in Erlang's notation. */
  String shown();

  /** Returns it as error messages quote it where a boolean was expected. */
  String shownAsBoolean();

  /**
   * @throws LectusException {@code query_parse_error}: neither true nor false, in any case
   */
  default boolean flag() {
    return switch (text().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw unparsable("Invalid boolean parameter: " + shownAsBoolean());
    };
  }

  /**
   * Returns a number of at least 0; one too large for a long counts as unlimited.
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
    return digits.length() > MAX_DIGITS ? Long.MAX_VALUE : Long.parseLong(digits);
  }

  /**
   * @throws LectusException {@code query_parse_error}: not one of these values
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
