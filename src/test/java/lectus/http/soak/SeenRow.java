package lectus.http.soak;

import java.nio.charset.StandardCharsets;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** A row of a feed, as a client saw it. */
record SeenRow(String seq, String id, String rev) {

  /** Parses {@code {"seq":"…","id":"a","changes":[{"rev":"3-x"}],…}}. */
  static SeenRow of(JsonObject row) {
    JsonArray changes = (JsonArray) row.get("changes").orElseThrow();
    String rev = text((JsonObject) changes.elements().get(0), "rev");
    if (row.get("doc").orElse(null) instanceof JsonObject doc && !rev.equals(text(doc, "_rev"))) {
      throw new AssertionError("The document is not the row's: " + row);
    }
    return new SeenRow(text(row, "seq"), text(row, "id"), rev);
  }

  static JsonObject parse(String json) {
    return (JsonObject) JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  static String text(JsonObject object, String member) {
    return ((JsonString) object.get(member).orElseThrow()).value();
  }
}
