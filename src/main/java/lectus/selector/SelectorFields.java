package lectus.selector;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  private static final Set<String> INDEXABLE =
      Set.of("$lt", "$lte", "$eq", "$gt", "$gte", "$beginsWith", "$exists");

  /** Operators that nothing satisfies, or that CouchDB takes for that, if they have no arguments. */
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
    } else if (!NormalSelector.isOperator(name)
        && INDEXABLE.contains(NormalSelector.name(condition(selector)))) {
      fields.add(name);
    }
  }

  /**
   * Returns the range of each indexable field, up to the first one that no value satisfies.
   *
   * @return with an empty value for that field
   */
  public Map<String, Optional<ValueRange>> ranges() {
    Map<String, Optional<ValueRange>> ranges = new LinkedHashMap<>();
    for (String field : indexable()) {
      Optional<ValueRange> range = range(field);
      ranges.put(field, range);
      if (range.isEmpty()) {
        break;
      }
    }
    return ranges;
  }

  private Optional<ValueRange> range(String field) {
    Collation order = field.equals(ID) ? Collation.OF_IDS : Collation.ORDER;
    return narrowed(normal, field, order, Optional.of(ValueRange.ALL));
  }

  private static Optional<ValueRange> narrowed(
      JsonObject selector, String field, Collation order, Optional<ValueRange> range) {
    String name = NormalSelector.name(selector);
    if (name.equals(NormalSelector.AND)) {
      Optional<ValueRange> narrower = range;
      for (JsonObject part : NormalSelector.parts(selector)) {
        narrower = narrowed(part, field, order, narrower);
      }
      return narrower;
    }
    if (!name.equals(field)) {
      return range;
    }
    JsonObject condition = condition(selector);
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

  /** Whether whatever it matches has all of these fields. */
  public boolean requires(Set<String> fields) {
    return missing(List.of(normal), fields).isEmpty();
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
