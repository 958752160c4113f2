package lectus.mango.query;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import lectus.derived.IndexDefinition;
import lectus.derived.NormalSelector;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.RequestMembers.QueryErrors;

/**
 * The fields of an index or of a sort, all in one direction.
 *
 * @param fields in {@link NormalSelector}'s spelling
 */
record SortFields(List<String> fields, boolean descending) {
  static final SortFields NONE = new SortFields(List.of(), false);

  /**
   * @throws lectus.error.LectusException {@code invalid_sort_json}, {@code invalid_sort_field},
   *     {@code unsupported_mixed_sort}, {@code invalid_field_name}
   */
  static SortFields parse(JsonValue json) {
    if (!(json instanceof JsonArray array)) {
      throw QueryErrors.of("invalid_sort_json", "Sort must be an array of sort specs, not: ", json);
    }
    Set<String> fields = new LinkedHashSet<>();
    Set<String> directions = new TreeSet<>();
    for (JsonValue element : array.elements()) {
      directions.add(direction(element));
      fields.add(NormalSelector.field(name(element)));
    }
    if (directions.size() > 1) {
      throw LectusException.badRequest(
          "unsupported_mixed_sort",
          "Sorts currently only support a single direction for all fields.");
    }
    return new SortFields(List.copyOf(fields), directions.contains(IndexDefinition.DESCENDING));
  }

  String direction() {
    return descending ? IndexDefinition.DESCENDING : IndexDefinition.ASCENDING;
  }

  private static String name(JsonValue element) {
    if (element instanceof JsonString text && !text.value().isEmpty()) {
      return text.value();
    }
    return ((JsonObject) element).members().keySet().iterator().next();
  }

  private static String direction(JsonValue element) {
    if (element instanceof JsonString text && !text.value().isEmpty()) {
      return IndexDefinition.ASCENDING;
    }
    if (!(element instanceof JsonObject object) || object.members().size() != 1) {
      throw QueryErrors.of("invalid_sort_field", "Invalid sort field: ", element);
    }
    JsonValue direction = object.members().values().iterator().next();
    if (direction instanceof JsonString text
        && (text.value().equals(IndexDefinition.ASCENDING)
            || text.value().equals(IndexDefinition.DESCENDING))) {
      return text.value();
    }
    throw QueryErrors.of("invalid_sort_field", "Invalid sort field: ", element);
  }
}
