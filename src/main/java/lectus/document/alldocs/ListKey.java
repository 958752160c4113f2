package lectus.document.alldocs;

import java.util.Optional;
import lectus.json.JsonValue;

/**
 * A key of a list. Keys are ids; any other JSON value equals none of them and sorts before all, as
 * in CouchDB.
 */
public record ListKey(JsonValue json) {
  static ListKey of(String id) {
    return new ListKey(new JsonValue.JsonString(id));
  }

  /** The id; empty for what is none. */
  Optional<String> id() {
    return json instanceof JsonValue.JsonString text ? Optional.of(text.value()) : Optional.empty();
  }
}
