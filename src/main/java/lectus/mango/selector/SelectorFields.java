package lectus.mango.selector;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * What a selector says of its fields: which must exist, which have one value, and which values lie
 * in a range. As CouchDB's {@code mango_idx_view} and {@code mango_selector} see it.
 *
 * @param normal in {@link NormalSelector}'s form
 */
public record SelectorFields(JsonObject normal) {
  private static final String ID = "_id";

  /** The last character in the collation's order, and the last one in the order of bytes. */
  private static final String LAST = "\uffff";

  private static final String LAST_OF_IDS = "\udbff\udfff";

  private static final JsonObject NO_VALUE =
      new JsonObject(Map.of("$in", new JsonArray(List.of())));

  private static final Set<String> INDEXABLE =
      Set.of("$lt", "$lte", "$eq", "$gt", "$gte", "$beginsWith", "$exists");

  /**
   * Operators that nothing satisfies, or that CouchDB takes for that, if they have no arguments.
   */
  private static final Set<String> VOID_WITHOUT_ARGUMENTS = Set.of("$all", "$and", "$or", "$in");

  /** Returns all fields, as often as they occur; those within elements have no names here. */
  public List<String> all() {
    List<String> fields = new ArrayList<>();
    addAll(normal, fields);
    return fields;
  }

  private static void addAll(JsonObject selector, List<String> fields) {
    if (selector.members().isEmpty()) {
      return;
    }
    if (NormalSelector.isJoining(NormalSelector.name(selector))) {
      NormalSelector.parts(selector).forEach(part -> addAll(part, fields));
    } else {
      fields.add(NormalSelector.name(selector));
    }
  }

  /** Returns the fields whose conditions are ranges, each as CouchDB lists it: in textual order. */
  public Set<String> indexable() {
    Set<String> fields = new TreeSet<>();
    addIndexable(normal, fields);
    return fields;
  }

  private static void addIndexable(JsonObject selector, Set<String> fields) {
    if (selector.members().isEmpty()) {
      return;
    }
    String name = NormalSelector.name(selector);
    if (name.equals(NormalSelector.AND)) {
      NormalSelector.parts(selector).forEach(part -> addIndexable(part, fields));
    } else if (isIndexable(selector)) {
      fields.add(name);
    }
  }

  /**
   * Returns the range of each indexable field; if no value of a field satisfies the selector, of
   * this field alone, as an empty value.
   */
  public Map<String, Optional<ValueRange>> ranges() {
    return rangesWithin(Map.of());
  }

  /** As above, of whatever lies in other ranges, too. Goes through the selector once. */
  private Map<String, Optional<ValueRange>> rangesWithin(Map<String, Optional<ValueRange>> known) {
    Map<String, Optional<ValueRange>> ranges = new TreeMap<>(known);
    narrow(normal, ranges);
    for (Map.Entry<String, Optional<ValueRange>> range : ranges.entrySet()) {
      if (range.getValue().isEmpty()) {
        return Map.of(range.getKey(), Optional.empty());
      }
    }
    return ranges;
  }

  private static void narrow(JsonObject selector, Map<String, Optional<ValueRange>> ranges) {
    if (selector.members().isEmpty()) {
      return;
    }
    String name = NormalSelector.name(selector);
    if (name.equals(NormalSelector.AND)) {
      NormalSelector.parts(selector).forEach(part -> narrow(part, ranges));
    } else if (isIndexable(selector)) {
      Optional<ValueRange> range = ranges.getOrDefault(name, Optional.of(ValueRange.ALL));
      ranges.put(name, narrowed(condition(selector), orderOf(name), range));
    }
  }

  private static boolean isIndexable(JsonObject selector) {
    return !NormalSelector.isOperator(NormalSelector.name(selector))
        && INDEXABLE.contains(NormalSelector.name(condition(selector)));
  }

  private static Collation orderOf(String field) {
    return field.equals(ID) ? Collation.OF_IDS : Collation.ORDER;
  }

  private static Optional<ValueRange> narrowed(
      JsonObject condition, Collation order, Optional<ValueRange> range) {
    String operator = NormalSelector.name(condition);
    JsonValue argument = NormalSelector.argument(condition);
    return operator.equals("$beginsWith")
        ? beginning(((JsonString) argument).value(), order, range)
        : range.flatMap(it -> it.narrowed(operator, argument, order));
  }

  /**
   * A character may change its place in the order with the one that follows it, but for those of
   * ASCII.
   */
  private static Optional<ValueRange> beginning(
      String prefix, Collation order, Optional<ValueRange> range) {
    boolean isOfIds = order == Collation.OF_IDS;
    String head = isOfIds ? prefix : prefix.replaceFirst("(?s)[^ -~].*", "");
    String last = head + (isOfIds ? LAST_OF_IDS : LAST);
    return range
        .flatMap(it -> it.narrowed("$gte", new JsonString(head), order))
        .flatMap(it -> it.narrowed("$lte", new JsonString(last), order));
  }

  /**
   * Returns ranges as {@link #ranges} does, of several selectors one of which matches whatever this
   * one matches, if they say more of the first columns of an index than this one does: those of an
   * {@code $or}, or of the arguments of an {@code $in}. What this one says of columns is in each.
   */
  public List<Map<String, Optional<ValueRange>>> alternatives(List<String> columns) {
    Map<String, Optional<ValueRange>> ranges = ranges();
    int one = 0;
    while (one < columns.size() && isOne(ranges, columns.get(one))) {
      one++;
    }
    if (one == columns.size() || isNarrowed(ranges, columns.get(one))) {
      return List.of(ranges);
    }
    Map<String, Optional<ValueRange>> known = new TreeMap<>(ranges);
    known.keySet().retainAll(columns);
    String column = columns.get(one);
    List<JsonObject> parts = new ArrayList<>();
    addParts(normal, parts);
    for (JsonObject part : parts) {
      List<JsonObject> each = alternatives(part, column);
      if (!each.isEmpty()) {
        return each.stream().map(it -> new SelectorFields(it).rangesWithin(known)).toList();
      }
    }
    return List.of(ranges);
  }

  private static boolean isOne(Map<String, Optional<ValueRange>> ranges, String column) {
    return ranges.containsKey(column) && ranges.get(column).filter(ValueRange::isOne).isPresent();
  }

  private static boolean isNarrowed(Map<String, Optional<ValueRange>> ranges, String column) {
    return ranges.containsKey(column) && !ranges.get(column).equals(Optional.of(ValueRange.ALL));
  }

  private static void addParts(JsonObject selector, List<JsonObject> parts) {
    if (selector.members().isEmpty()) {
      return;
    }
    if (NormalSelector.name(selector).equals(NormalSelector.AND)) {
      NormalSelector.parts(selector).forEach(part -> addParts(part, parts));
    } else {
      parts.add(selector);
    }
  }

  private static List<JsonObject> alternatives(JsonObject part, String column) {
    String name = NormalSelector.name(part);
    if (name.equals(NormalSelector.OR)) {
      List<JsonObject> each = NormalSelector.parts(part);
      boolean areNarrow =
          each.stream()
              .map(it -> new SelectorFields(it).ranges())
              .allMatch(it -> isNarrowed(it, column) || it.containsValue(Optional.empty()));
      return areNarrow ? each : List.of();
    }
    return name.equals(column) && NormalSelector.name(condition(part)).equals("$in")
        ? ofArguments(column, (JsonArray) NormalSelector.argument(condition(part)))
        : List.of();
  }

  /** An array is in it if one of its elements is. */
  private static List<JsonObject> ofArguments(String column, JsonArray arguments) {
    List<JsonObject> each = new ArrayList<>();
    arguments.elements().forEach(it -> each.add(condition(column, "$eq", it)));
    JsonArray arrays =
        new JsonArray(
            List.of(
                condition(column, "$gte", new JsonArray(List.of())),
                condition(column, "$lt", new JsonObject(Map.of()))));
    each.add(NormalSelector.single(NormalSelector.AND, arrays));
    return each;
  }

  private static JsonObject condition(String column, String operator, JsonValue argument) {
    return NormalSelector.single(column, NormalSelector.single(operator, argument));
  }

  /** Whether it is an operator without arguments, for which CouchDB looks at nothing. */
  public boolean isVoid() {
    if (normal.members().isEmpty()) {
      return false;
    }
    String name = NormalSelector.name(normal);
    return VOID_WITHOUT_ARGUMENTS.contains(name)
        && NormalSelector.argument(normal) instanceof JsonArray parts
        && parts.elements().isEmpty();
  }

  /** Whether whatever it matches has all of these fields; of nothing, everything is true. */
  public boolean requires(Set<String> fields) {
    return isVoid() || matchesNothing() || missing(List.of(normal), fields).isEmpty();
  }

  private boolean matchesNothing() {
    List<JsonObject> parts = new ArrayList<>();
    addParts(normal, parts);
    return parts.stream()
        .filter(part -> !NormalSelector.isOperator(NormalSelector.name(part)))
        .map(SelectorFields::condition)
        .anyMatch(it -> it.equals(NO_VALUE));
  }

  /** Returns those of the fields that a document may lack though it satisfies all conditions. */
  private static Set<String> missing(List<JsonObject> conditions, Set<String> fields) {
    Set<String> left = new TreeSet<>(fields);
    for (JsonObject condition : conditions) {
      if (condition.members().isEmpty()) {
        continue;
      }
      switch (NormalSelector.name(condition)) {
        case NormalSelector.AND -> left = missing(NormalSelector.parts(condition), left);
        case NormalSelector.OR -> left = missingInOne(NormalSelector.parts(condition), left);
        default -> {
          if (!isAbsence(condition)) {
            left.remove(NormalSelector.name(condition));
          }
        }
      }
    }
    return left;
  }

  /** An empty alternative is satisfied by everything. */
  private static Set<String> missingInOne(List<JsonObject> alternatives, Set<String> fields) {
    if (alternatives.isEmpty()) {
      return fields;
    }
    Set<String> left = new TreeSet<>();
    alternatives.forEach(each -> left.addAll(missing(List.of(each), fields)));
    return left;
  }

  private static boolean isAbsence(JsonObject condition) {
    JsonObject operator = condition(condition);
    return NormalSelector.name(operator).equals("$exists")
        && !((JsonBool) NormalSelector.argument(operator)).value();
  }

  /** Whether whatever it matches has one and the same value there. */
  public boolean isConstant(String field) {
    return isConstant(normal, field);
  }

  private static boolean isConstant(JsonObject selector, String field) {
    if (selector.members().isEmpty()) {
      return false;
    }
    String name = NormalSelector.name(selector);
    if (name.equals(NormalSelector.AND)) {
      return NormalSelector.parts(selector).stream().anyMatch(part -> isConstant(part, field));
    }
    return name.equals(field) && NormalSelector.name(condition(selector)).equals("$eq");
  }

  private static JsonObject condition(JsonObject selector) {
    return (JsonObject) NormalSelector.argument(selector);
  }
}
