package lectus.mango.query;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.RequestMembers.QueryErrors;

/**
 * A design document of indexes, to which one is added or from which one is removed.
 *
 * @param members of the document, {@code _id} and {@code _rev} among them if it is stored
 */
public record IndexDesign(Map<String, JsonValue> members) {
  private static final JsonString QUERY = new JsonString("query");
  private static final String LANGUAGE = "language";
  private static final String VIEWS = "views";
  private static final String OPTIONS = "options";
  private static final String PARTITIONED = "partitioned";

  /** Returns the document before it has indexes. */
  public static IndexDesign fresh() {
    return new IndexDesign(Map.of(LANGUAGE, QUERY));
  }

  /**
   * @param json the stored document
   * @throws lectus.error.LectusException {@code invalid_ddoc_lang}
   */
  public static IndexDesign of(byte[] json) {
    JsonObject document = (JsonObject) JsonValue.parse(json);
    JsonValue language = document.get(LANGUAGE).orElseGet(JsonValue.JsonNull::new);
    if (!language.equals(QUERY)) {
      throw QueryErrors.of(
          "invalid_ddoc_lang", "Existing design doc has an invalid language: ", language);
    }
    return new IndexDesign(document.members());
  }

  /**
   * @throws lectus.error.LectusException {@code invalid_partitioned_option}
   */
  public IndexDesign with(IndexRequest request) {
    Map<String, JsonValue> changed = new LinkedHashMap<>(members);
    Map<String, JsonValue> views = new LinkedHashMap<>(views());
    views.put(request.index().name(), request.view());
    changed.put(VIEWS, new JsonObject(views));
    setPartitioned(changed, request);
    return new IndexDesign(changed);
  }

  private void setPartitioned(Map<String, JsonValue> changed, IndexRequest request) {
    Map<String, JsonValue> options =
        members.get(OPTIONS) instanceof JsonObject object ? object.members() : Map.of();
    Optional<JsonValue> wanted = request.partitioned().map(JsonBool::new);
    if (Optional.ofNullable(options.get(PARTITIONED)).equals(wanted)) {
      return;
    }
    if (isStored()) {
      throw LectusException.badRequest(
          "invalid_partitioned_option",
          "Requested partitioned option does not match existing value on design document "
              + request.index().design());
    }
    changed.put(OPTIONS, new JsonObject(Map.of(PARTITIONED, wanted.orElseThrow())));
  }

  /** Returns the document without an index; empty if it has none of this name. */
  public Optional<IndexDesign> without(String name) {
    Map<String, JsonValue> views = new LinkedHashMap<>(views());
    if (views.remove(name) == null) {
      return Optional.empty();
    }
    Map<String, JsonValue> changed = new LinkedHashMap<>(members);
    if (views.isEmpty()) {
      changed.remove(VIEWS);
    } else {
      changed.put(VIEWS, new JsonObject(views));
    }
    return Optional.of(new IndexDesign(changed));
  }

  /** Whether nothing is left that anybody could want. */
  public boolean isEmpty() {
    return members.keySet().stream()
        .allMatch(name -> name.startsWith("_") || name.equals(LANGUAGE));
  }

  private boolean isStored() {
    return members.containsKey("_rev");
  }

  private Map<String, JsonValue> views() {
    return members.get(VIEWS) instanceof JsonObject views ? views.members() : Map.of();
  }

  public byte[] json() {
    return new JsonObject(members).toBytes();
  }

  public Optional<String> revision() {
    return Optional.ofNullable(members.get("_rev")).map(it -> ((JsonString) it).value());
  }

  /** Whether both are the same but for their revisions, however they are written. */
  public boolean isLike(IndexDesign other) {
    return body().equals(other.body());
  }

  private Map<String, JsonValue> body() {
    Map<String, JsonValue> body = new LinkedHashMap<>(members);
    body.keySet().removeIf(name -> name.startsWith("_"));
    return body;
  }
}
