package lectus.mango.query;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** The members of a request's body, taken one by one; what nobody takes is an error. */
final class RequestMembers {
  /** No integer of a request has more digits. */
  private static final int MAX_DIGITS = 18;

  private final Map<String, JsonValue> left;

  RequestMembers(JsonObject body) {
    this.left = new LinkedHashMap<>(body.members());
  }

  Optional<JsonValue> take(String name) {
    return Optional.ofNullable(left.remove(name));
  }

  /**
   * @throws lectus.error.LectusException {@code missing_required_key}
   */
  JsonValue required(String name) {
    return take(name)
        .orElseThrow(
            () ->
                LectusException.badRequest(
                    "missing_required_key", "Missing required key: " + name));
  }

  boolean bool(String name, boolean byDefault) {
    return take(name).map(RequestMembers::bool).orElse(byDefault);
  }

  private static boolean bool(JsonValue value) {
    if (value instanceof JsonBool bool) {
      return bool.value();
    }
    throw QueryErrors.of("invalid_boolean", "Invalid boolean value: ", value);
  }

  /** Returns an integer from 0. */
  long natural(String name, long byDefault) {
    Optional<JsonValue> value = take(name);
    long number = value.map(it -> integer(name, it)).orElse(byDefault);
    if (number < 0) {
      throw LectusException.badRequest(
          "invalid_non_neg_integer",
          QueryErrors.shown(value.get()) + " is not an integer greater than or equal to zero");
    }
    return number;
  }

  /** Returns an integer from 1. */
  long positive(String name, long byDefault) {
    Optional<JsonValue> value = take(name);
    long number = value.map(it -> integer(name, it)).orElse(byDefault);
    if (number < 1) {
      throw LectusException.badRequest(
          "invalid_pos_integer",
          QueryErrors.shown(value.get()) + " is not an integer greater than zero");
    }
    return number;
  }

  /** Returns -1 for what is no natural number. */
  private static long integer(String name, JsonValue value) {
    if (!(value instanceof JsonNumber number && number.text().matches("[0-9]+"))) {
      return -1;
    }
    if (number.text().length() > MAX_DIGITS) {
      throw LectusException.badRequest(
          "invalid_integer",
          "`" + name + "` has more than " + MAX_DIGITS + " digits: " + QueryErrors.shown(value));
    }
    return Long.parseLong(number.text());
  }

  /** Returns a name of an index or a design document. */
  Optional<String> name(String member) {
    Optional<JsonValue> value = take(member);
    if (value.filter(new JsonString("")::equals).isPresent()) {
      throw LectusException.badRequest(
          "invalid_empty_string", "Index name or ddoc cannot be empty string");
    }
    return value.map(RequestMembers::string);
  }

  static String string(JsonValue value) {
    if (value instanceof JsonString text) {
      return text.value();
    }
    throw QueryErrors.of("invalid_string", "Invalid string: ", value);
  }

  /**
   * @throws lectus.error.LectusException {@code invalid_key}: something is left
   */
  void end() {
    left.keySet().stream()
        .findFirst()
        .ifPresent(
            key -> {
              throw LectusException.badRequest(
                  "invalid_key",
                  "Invalid key " + QueryErrors.shortened(key) + " for this request.");
            });
  }

  /** The errors of Mango's requests, with CouchDB's names and sentences; all are 400. */
  static final class QueryErrors {
    /** Maximum number of characters of a value that a reason repeats. */
    private static final int LONGEST_VALUE = 200;

    private QueryErrors() {}

    /** The reason ends with the value as JSON, where CouchDB shows an Erlang term. */
    static LectusException of(String error, String reason, JsonValue value) {
      return LectusException.badRequest(error, reason + shown(value));
    }

    static String shown(JsonValue value) {
      return shortened(value.toJson());
    }

    static String shortened(String text) {
      return text.length() <= LONGEST_VALUE
          ? text
          : text.substring(0, text.offsetByCodePoints(0, LONGEST_VALUE / 2)) + "…";
    }
  }
}
