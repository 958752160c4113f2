package lectus.http.websocket;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** The members of one message, by type; another type is a {@code bad_request}. */
record MessageMembers(JsonObject message) {

  /**
   * Rejects unknown members: a misspelt option would be ignored, and the client would get rows that
   * it did not ask for.
   */
  void expectOnly(Set<String> known) {
    for (String name : message.members().keySet()) {
      if (!known.contains(name)) {
        throw LectusException.badRequest("A message of this type has no member `" + name + "`.");
      }
    }
  }

  boolean has(String name) {
    return message.members().containsKey(name);
  }

  Optional<JsonValue> get(String name) {
    return message.get(name);
  }

  Optional<String> text(String name) {
    return get(name).map(value -> text(name, value));
  }

  private static String text(String name, JsonValue value) {
    if (value instanceof JsonString text) {
      return text.value();
    }
    throw LectusException.badRequest("`" + name + "` must be a string.");
  }

  boolean flag(String name) {
    return get(name).map(value -> flag(name, value)).orElse(false);
  }

  private static boolean flag(String name, JsonValue value) {
    if (value instanceof JsonBool flag) {
      return flag.value();
    }
    throw LectusException.badRequest("`" + name + "` must be true or false.");
  }

  OptionalLong number(String name, long least, long most) {
    Optional<JsonValue> value = get(name);
    return value.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(number(name, value.get(), least, most));
  }

  private static long number(String name, JsonValue value, long least, long most) {
    LectusException wanted =
        LectusException.badRequest(
            "`" + name + "` must be a whole number from " + least + " to " + most + ".");
    if (!(value instanceof JsonNumber written)) {
      throw wanted;
    }
    try {
      long number = Long.parseLong(written.text());
      if (number < least || number > most) {
        throw wanted;
      }
      return number;
    } catch (NumberFormatException e) {
      throw wanted;
    }
  }

  static List<String> texts(String name, JsonArray array) {
    List<String> texts = new ArrayList<>(array.elements().size());
    for (JsonValue element : array.elements()) {
      texts.add(text(name, element));
    }
    return texts;
  }
}
