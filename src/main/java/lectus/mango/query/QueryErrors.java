package lectus.mango.query;

import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonString;

/** The errors of Mango's requests, with CouchDB's names and sentences; all are 400. */
final class QueryErrors {
  /** Maximum number of characters of a value that a reason repeats. */
  private static final int LONGEST_VALUE = 200;

  private QueryErrors() {}

  static LectusException of(String error, String reason) {
    return LectusException.badRequest(error, reason);
  }

  /** The reason ends with the value as JSON, where CouchDB shows an Erlang term. */
  static LectusException of(String error, String reason, JsonValue value) {
    return of(error, reason + shown(value));
  }

  static String shown(JsonValue value) {
    return shortened(value.toJson());
  }

  /** Returns a string as it is, and any other value as JSON. */
  static String bare(JsonValue value) {
    return value instanceof JsonString text ? shortened(text.value()) : shown(value);
  }

  static String shortened(String text) {
    return text.length() <= LONGEST_VALUE
        ? text
        : text.substring(0, text.offsetByCodePoints(0, LONGEST_VALUE / 2)) + "…";
  }
}
