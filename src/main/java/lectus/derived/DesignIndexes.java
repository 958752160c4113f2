package lectus.derived;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonInput;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

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
 * As in CouchDB, a view that describes no index is passed over. So is all else: a design document
 * may be as large as any, and is read in the transaction that writes it.
 */
public final class DesignIndexes {
  private static final String FIELDS = "fields";

  /** In UTF-16 units; what describes an index within its limits is shorter. */
  private static final int LONGEST_PART = 16 * IndexDefinition.LONGEST_DEFINITION;

  /** More than a database ever has. */
  private static final int MAX_DESCRIBED = 1_000;

  private final String json;
  private final JsonInput input;
  private final Map<String, Described> views = new LinkedHashMap<>();
  private boolean isOfIndexes;
  private boolean isPartitioned;

  /** A part is null where it is missing, too long or nested too deeply. */
  private static final class Described {
    private JsonValue fields;
    private JsonValue filter;
    private JsonValue formerFilter;
    private boolean hasOptions;
    private boolean isUsable = true;
  }

  private DesignIndexes(String json, JsonInput input, boolean isPartitioned) {
    this.json = json;
    this.input = input;
    this.isPartitioned = isPartitioned;
  }

  public static List<IndexDefinition> in(String design, String json, boolean partitioned) {
    try (JsonInput input = JsonInput.of(json.getBytes(StandardCharsets.UTF_8))) {
      DesignIndexes all = new DesignIndexes(json, input, partitioned);
      input.next();
      all.eachMember(all::member);
      List<IndexDefinition> found = new ArrayList<>();
      if (all.isOfIndexes) {
        all.views.forEach((name, view) -> all.index(design, name, view).ifPresent(found::add));
      }
      return found;
    }
  }

  /** Goes through the members of the object at the current token; any other value is skipped. */
  private void eachMember(Consumer<String> member) {
    if (input.token() != JsonToken.START_OBJECT) {
      input.skip();
      return;
    }
    while (input.next() == JsonToken.FIELD_NAME) {
      String name = input.name();
      input.next();
      member.accept(name);
    }
  }

  private void member(String name) {
    switch (name) {
      case "language" -> isOfIndexes = part().filter(new JsonString("query")::equals).isPresent();
      case "options" -> eachMember(this::option);
      case "views" -> eachMember(this::view);
      default -> input.skip();
    }
  }

  private void option(String name) {
    Optional<JsonValue> value = part();
    if (name.equals("partitioned") && value.orElse(null) instanceof JsonBool option) {
      isPartitioned = option.value();
    }
  }

  private void view(String name) {
    Described view = new Described();
    eachMember(
        member -> {
          if (member.equals("map")) {
            eachMember(part -> map(view, part));
          } else {
            view.hasOptions |= member.equals("options") && input.token() == JsonToken.START_OBJECT;
            input.skip();
          }
        });
    if (view.isUsable
        && view.hasOptions
        && view.fields instanceof JsonObject
        && views.size() < MAX_DESCRIBED) {
      views.put(name, view);
    }
  }

  private void map(Described view, String name) {
    Optional<JsonValue> value = part();
    switch (name) {
      case FIELDS -> view.fields = value.orElse(null);
      case "partial_filter_selector" -> view.filter = value.orElse(null);
      case "selector" -> view.formerFilter = value.orElse(null);
      default -> {
        return;
      }
    }
    view.isUsable &= value.isPresent();
  }

  /** Returns the value at the current token; empty if it is too long, or nested too deeply. */
  private Optional<JsonValue> part() {
    String part = input.skipped(json);
    try {
      return part.length() > LONGEST_PART
          ? Optional.empty()
          : Optional.of(JsonValue.parse(part.getBytes(StandardCharsets.UTF_8)));
    } catch (LectusException tooDeep) {
      return Optional.empty();
    }
  }

  private Optional<IndexDefinition> index(String design, String name, Described view) {
    JsonObject directions = (JsonObject) view.fields;
    // Before CouchDB 2.1.1 it was called `selector`.
    Optional<JsonObject> filter =
        Optional.ofNullable(view.filter == null ? view.formerFilter : view.filter)
            .filter(JsonObject.class::isInstance)
            .map(JsonObject.class::cast)
            .filter(it -> !it.members().isEmpty());
    try {
      filter.ifPresent(Selector::compile);
      IndexDefinition index =
          new IndexDefinition(
              design, name, ordered(directions), direction(directions), filter, isPartitioned);
      // A replicator may bring what `_index` would have refused.
      return Optional.of(index).filter(it -> problem(it).isEmpty());
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
