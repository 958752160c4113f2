package lectus.mango.query;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.Partition;
import lectus.derived.NormalSelector;
import lectus.derived.Selector;
import lectus.document.RequestJson;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.IndexRequest.DesignNames;
import lectus.mango.query.RequestMembers.QueryErrors;

/**
 * A query.
 *
 * @param useIndex a design document, and perhaps the name of an index; empty: any
 * @param fields to show; empty: whole documents
 * @param quorum what {@code r} says; every read is of the newest state here
 */
public record FindRequest(
    Selector selector,
    NormalSelector normal,
    List<String> useIndex,
    Optional<String> bookmark,
    long limit,
    long skip,
    SortFields sort,
    List<String> fields,
    Optional<Partition> partition,
    long quorum,
    boolean conflicts,
    Options options) {
  private static final long DEFAULT_LIMIT = 25;

  /** What is only shown again, and {@code execution_stats} and {@code allow_fallback}. */
  record Options(
      boolean stale, boolean update, boolean stable, boolean stats, boolean mayFallBack) {}

  /**
   * @param ofPath the partition that the path names
   * @throws lectus.error.LectusException with CouchDB's errors
   */
  public static FindRequest parse(byte[] body, Optional<String> ofPath) {
    RequestMembers members = new RequestMembers(RequestJson.object(body));
    JsonValue json = members.required("selector");
    Selector selector = Selector.compile(json);
    FindRequest request =
        new FindRequest(
            selector,
            NormalSelector.of((JsonObject) json),
            members.take("use_index").map(FindRequest::useIndex).orElse(List.of()),
            members.take("bookmark").flatMap(FindRequest::bookmark),
            members.natural("limit", DEFAULT_LIMIT),
            members.natural("skip", 0),
            members.take("sort").map(SortFields::parse).orElse(SortFields.NONE),
            members.take("fields").map(FindRequest::fields).orElse(List.of()),
            partition(members.take("partition"), ofPath),
            members.positive("r", 1),
            members.bool("conflicts", false),
            options(members));
    members.end();
    request.paths();
    return request;
  }

  private static Options options(RequestMembers members) {
    return new Options(
        members.take("stale").map(FindRequest::stale).orElse(false),
        members.bool("update", true),
        members.bool("stable", false),
        members.bool("execution_stats", false),
        members.bool("allow_fallback", true));
  }

  private static boolean stale(JsonValue value) {
    if (value.equals(new JsonString("ok"))) {
      return true;
    }
    if (value.equals(new JsonString("false")) || value.equals(new JsonBool(false))) {
      return false;
    }
    throw QueryErrors.of("invalid_ok_or_false_value", "Invalid value for stale: ", value);
  }

  private static List<String> useIndex(JsonValue value) {
    if (value instanceof JsonNull) {
      return List.of();
    }
    List<String> names = new ArrayList<>();
    if (value instanceof JsonString text) {
      names.addAll(List.of(text.value().split("/", -1)));
      if (names.size() > 1 && names.get(0).equals("_design")) {
        names.remove(0);
      }
    } else if (value instanceof JsonArray array
        && array.elements().stream().allMatch(JsonString.class::isInstance)) {
      array.elements().forEach(each -> names.add(((JsonString) each).value()));
    } else {
      throw invalidIndexName(value);
    }
    if (names.size() > 2) {
      throw invalidIndexName(value);
    }
    return names;
  }

  private static RuntimeException invalidIndexName(JsonValue value) {
    return QueryErrors.of("invalid_index_name", "Invalid index name: ", value);
  }

  /** CouchDB gives {@code nil} where a query found nothing. */
  private static Optional<String> bookmark(JsonValue value) {
    if (value instanceof JsonNull) {
      return Optional.empty();
    }
    if (value instanceof JsonString text) {
      return Optional.of(text.value()).filter(it -> !it.isEmpty() && !it.equals("nil"));
    }
    throw QueryErrors.of("invalid_bookmark", "Invalid bookmark value: ", value);
  }

  private static List<String> fields(JsonValue value) {
    if (!(value instanceof JsonArray array)) {
      throw QueryErrors.of("invalid_fields", "Fields must be an array of strings, not: ", value);
    }
    List<String> fields = new ArrayList<>();
    for (JsonValue field : array.elements()) {
      if (!(field instanceof JsonString text)) {
        throw QueryErrors.of("invalid_field", "Invalid JSON for field spec: ", field);
      }
      fields.add(text.value());
    }
    return fields;
  }

  private static Optional<Partition> partition(
      Optional<JsonValue> ofBody, Optional<String> ofPath) {
    Optional<String> named = ofBody.map(RequestMembers::string).filter(it -> !it.isEmpty());
    if (named.isPresent() && ofPath.isPresent() && !named.equals(ofPath)) {
      throw QueryErrors.of(
          "bad_partition", "The body names another partition than the path: ", ofBody.get());
    }
    return ofPath.or(() -> named).map(Partition::of);
  }

  /** Returns the places of the fields to show. */
  List<FieldPath> paths() {
    return FieldPath.parseAll(fields);
  }

  /** Returns the fields to show and those that the selector looks at, in the normal spelling. */
  List<String> requiredFields() {
    List<String> required = new ArrayList<>(normal.all());
    fields.forEach(field -> required.add(NormalSelector.field(field)));
    return required;
  }

  /** Returns the name of the design document that is to be used, without its id's beginning. */
  String wantedDesign() {
    return DesignNames.bare(useIndex.get(0));
  }
}
