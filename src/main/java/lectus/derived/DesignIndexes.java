package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.mango.selector.FilterSize;
import lectus.mango.selector.NormalSelector;
import lectus.mango.selector.Selector;

/**
 * Reads the indexes that a design document describes:
 *
 * <pre>
 * {"language": "query",
 *  "views": {name: {"map": {"fields": {"a": "asc", "b": "asc"}, "partial_filter_selector": {…}},
 *                   "reduce": "_count",
 *                   "options": {"def": {"fields": ["a", "b"], …}}}}}
 * </pre>
 *
 * As in CouchDB, a view that describes no index is passed over.
 */
public final class DesignIndexes {
  private static final String LANGUAGE = "query";
  private static final String FIELDS = "fields";

  private DesignIndexes() {}

  /**
   * @param document the design document's body
   * @param partitioned whether its database is partitioned
   */
  public static List<IndexDefinition> in(String design, JsonObject document, boolean partitioned) {
    boolean isOfIndexes =
        document.get("language").filter(new JsonString(LANGUAGE)::equals).isPresent();
    if (!isOfIndexes || !(document.members().get("views") instanceof JsonObject views)) {
      return List.of();
    }
    boolean isPartitioned = isPartitioned(document, partitioned);
    List<IndexDefinition> found = new ArrayList<>();
    views
        .members()
        .forEach((name, view) -> index(design, name, view, isPartitioned).ifPresent(found::add));
    return found;
  }

  private static boolean isPartitioned(JsonObject document, boolean byDefault) {
    if (document.members().get("options") instanceof JsonObject options
        && options.members().get("partitioned") instanceof JsonBool option) {
      return option.value();
    }
    return byDefault;
  }

  private static Optional<IndexDefinition> index(
      String design, String name, JsonValue view, boolean partitioned) {
    if (!(view instanceof JsonObject object)
        || !(object.members().get("map") instanceof JsonObject map)
        || !(map.members().get(FIELDS) instanceof JsonObject directions)
        || !(object.members().get("options") instanceof JsonObject)) {
      return Optional.empty();
    }
    try {
      List<String> fields = ordered(directions);
      Optional<JsonObject> filter = filter(map);
      filter.ifPresent(Selector::compile);
      return Optional.of(
              new IndexDefinition(design, name, fields, direction(directions), filter, partitioned))
          .filter(DesignIndexes::isWithinLimits);
    } catch (LectusException unusable) {
      return Optional.empty();
    }
  }

  /** As in CouchDB, the order of the members is that of the fields. */
  private static List<String> ordered(JsonObject directions) {
    List<String> spelled =
        directions.members().keySet().stream().map(NormalSelector::field).distinct().toList();
    spelled.forEach(FieldPath::parse);
    return spelled;
  }

  private static String direction(JsonObject directions) {
    return directions.members().containsValue(new JsonString(IndexDefinition.DESCENDING))
        ? IndexDefinition.DESCENDING
        : IndexDefinition.ASCENDING;
  }

  /** Before CouchDB 2.1.1 it was called {@code selector}. */
  private static Optional<JsonObject> filter(JsonObject map) {
    return map.get("partial_filter_selector")
        .or(() -> map.get("selector"))
        .filter(JsonObject.class::isInstance)
        .map(JsonObject.class::cast)
        .filter(it -> !it.members().isEmpty());
  }

  /** A replicator may bring what {@code _index} would have refused. */
  private static boolean isWithinLimits(IndexDefinition index) {
    return problem(index).isEmpty();
  }

  private static boolean isCostly(FilterSize filter) {
    return filter.instructions() > FilterSize.MAX_INSTRUCTIONS_IN_WRITES;
  }

  /** Returns the limit that the index exceeds. */
  public static Optional<String> problem(IndexDefinition index) {
    if (index.fields().isEmpty()) {
      return Optional.of("An index needs at least one field.");
    }
    if (index.looksAt("_attachments")) {
      return Optional.of("An index has no attachments.");
    }
    if (index.fields().size() > IndexDefinition.MAX_FIELDS) {
      return Optional.of("An index has at most " + IndexDefinition.MAX_FIELDS + " fields.");
    }
    if (index.name().length() > IndexDefinition.LONGEST_NAME) {
      return Optional.of(
          "The name of an index has at most " + IndexDefinition.LONGEST_NAME + " characters.");
    }
    if (index.filter().map(FilterSize::of).filter(DesignIndexes::isCostly).isPresent()) {
      return Optional.of(
          "The partial filter of an index has at most "
              + FilterSize.MAX_INSTRUCTIONS_IN_WRITES
              + " instructions of regular expressions.");
    }
    if (index.json().toJson().length() > IndexDefinition.LONGEST_DEFINITION) {
      return Optional.of(
          "The definition of an index has at most "
              + IndexDefinition.LONGEST_DEFINITION
              + " characters.");
    }
    return Optional.empty();
  }
}
