package lectus.mango.query;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lectus.attachment.Digests;
import lectus.derived.DesignIndexes;
import lectus.derived.IndexDefinition;
import lectus.derived.NormalSelector;
import lectus.derived.Selector;
import lectus.document.DocumentId;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.RequestMembers.QueryErrors;

/**
 * A request for an index.
 *
 * @param definition as it was sent
 * @param index what it means; partitioned unless the request says otherwise
 * @param partitioned as it was sent
 */
public record IndexRequest(
    JsonObject definition, IndexDefinition index, Optional<Boolean> partitioned) {
  private static final String JSON = "json";
  private static final String FILTER = "partial_filter_selector";

  /**
   * @throws LectusException with CouchDB's errors; {@code invalid_index} beyond a limit
   */
  public static IndexRequest parse(byte[] body) {
    RequestMembers members = new RequestMembers(RequestJson.object(body));
    JsonValue definition = members.required("index");
    String type = members.take("type").map(RequestMembers::string).orElse(JSON);
    Optional<String> name = members.name("name");
    Optional<String> design = members.name("ddoc");
    members.positive("w", 2);
    Optional<Boolean> partitioned = members.take("partitioned").map(IndexRequest::partitioned);
    members.end();
    checkType(type);
    IndexRequest request = of(definition, name, design, partitioned);
    checkLimits(request.index);
    return request;
  }

  private static IndexRequest of(
      JsonValue json,
      Optional<String> name,
      Optional<String> design,
      Optional<Boolean> partitioned) {
    if (!(json instanceof JsonObject definition)) {
      throw QueryErrors.of("invalid_index", "JSON indexes must be an object, not: ", json);
    }
    RequestMembers members = new RequestMembers(definition);
    SortFields fields = SortFields.parse(members.required("fields"));
    Optional<JsonObject> filter = members.take(FILTER).map(IndexRequest::filter);
    members.end();
    String generated = hash(definition, name, partitioned);
    return new IndexRequest(
        definition,
        new IndexDefinition(
            DesignNames.idOf(design.orElse(generated)),
            name.orElse(generated),
            fields.fields(),
            fields.direction(),
            filter.filter(it -> !it.members().isEmpty()),
            partitioned.orElse(true)),
        partitioned);
  }

  private static JsonObject filter(JsonValue json) {
    Selector.compile(json);
    return NormalSelector.of((JsonObject) json).json();
  }

  private static boolean partitioned(JsonValue value) {
    if (value instanceof JsonBool bool) {
      return bool.value();
    }
    throw QueryErrors.of("invalid_partitioned_value", "Invalid value for partitioned: ", value);
  }

  /** Answers as CouchDB does without the services that such indexes need. */
  private static void checkType(String type) {
    if (type.equals("text") || type.equals("nouveau")) {
      throw new LectusException(new LectusError.MissingService(type));
    }
    if (!type.equals(JSON)) {
      throw LectusException.badRequest(
          "invalid_index", "Invalid type for index: " + QueryErrors.shortened(type));
    }
  }

  private static void checkLimits(IndexDefinition index) {
    index.fields().forEach(FieldPath::parse);
    DocumentId.check(index.design(), DocumentId.DEFAULT_MAX_BYTES);
    DesignIndexes.problem(index)
        .ifPresent(
            problem -> {
              throw LectusException.badRequest("invalid_index", problem);
            });
  }

  /**
   * Equal requests make equal names. An index with a name of its own, or one that says whether it
   * is partitioned, gets a design document of its own, as in CouchDB.
   */
  private static String hash(
      JsonObject definition, Optional<String> name, Optional<Boolean> partitioned) {
    String named =
        definition.toJson()
            + partitioned.map(Object::toString).orElse("")
            + name.map(own -> "\n" + own).orElse("");
    byte[] bytes = named.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(Digests.sha1().digest(bytes));
  }

  /** Returns the view that describes the index, as CouchDB stores it. */
  JsonObject view() {
    Map<String, JsonValue> directions = new LinkedHashMap<>();
    index.fields().forEach(field -> directions.put(field, new JsonString(index.direction())));
    Map<String, JsonValue> map = new LinkedHashMap<>();
    map.put("fields", new JsonObject(directions));
    map.put(FILTER, index.filter().orElseGet(() -> new JsonObject(Map.of())));
    Map<String, JsonValue> view = new LinkedHashMap<>();
    view.put("map", new JsonObject(map));
    view.put("reduce", new JsonString("_count"));
    view.put("options", new JsonObject(Map.of("def", definition)));
    return new JsonObject(view);
  }

  /** The names of design documents, with and without what their ids begin with. */
  public static final class DesignNames {
    private DesignNames() {}

    /** Returns the id of a design document that is named with or without its beginning. */
    public static String idOf(String name) {
      return DocumentId.isDesign(name) ? name : DocumentId.DESIGN_PREFIX + name;
    }

    /** Returns the name without the id's beginning. */
    static String bare(String name) {
      return DocumentId.isDesign(name) ? name.substring(DocumentId.DESIGN_PREFIX.length()) : name;
    }
  }
}
