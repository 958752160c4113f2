package lectus.http;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/** Parses arrays of strings in parameters and bodies. */
public final class JsonStrings {
  private JsonStrings() {}

  /**
   * @param name of the parameter, for the message
   * @throws LectusException {@code bad_request}
   */
  public static List<String> parse(String json, String name) {
    try (JsonInput input = JsonInput.of(json.getBytes(StandardCharsets.UTF_8))) {
      input.next();
      List<String> strings = read(input, name);
      input.expectEnd();
      return strings;
    } catch (LectusException notJson) {
      throw notStrings(name);
    }
  }

  /** Reads the array whose first token is the input's current one. */
  public static List<String> read(JsonInput input, String name) {
    if (input.token() != JsonToken.START_ARRAY) {
      throw notStrings(name);
    }
    List<String> strings = new ArrayList<>();
    while (input.next() != JsonToken.END_ARRAY) {
      if (input.token() != JsonToken.VALUE_STRING) {
        throw notStrings(name);
      }
      strings.add(input.text());
    }
    return strings;
  }

  private static LectusException notStrings(String name) {
    return LectusException.badRequest("`" + name + "` must be an array of strings.");
  }
}
