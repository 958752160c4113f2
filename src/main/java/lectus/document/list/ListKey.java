package lectus.document.list;

import java.util.Optional;
import lectus.json.JsonValue;

/**
 * A key of a list. Keys are ids. As in CouchDB, any other JSON value equals no id and sorts before
 * all ids.
 */
public record ListKey(JsonValue json) {
  static ListKey of(String id) {
    return new ListKey(new JsonValue.JsonString(id));
  }

  /** Returns the id; empty if the key is not an id. */
  Optional<String> id() {
    return json instanceof JsonValue.JsonString text ? Optional.of(text.value()) : Optional.empty();
  }
}
