package lectus.derived;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * CouchDB's normal form of a selector, which indexes are chosen by and {@code _explain} shows: each
 * object has one member, every operator is explicit, fields are paths that stand right before their
 * operators, and negations are moved to the operators. Of selectors that {@link Selector} compiles.
 *
 * <p>It says of fields which must exist, which have one value, and which values lie in a range, as
 * CouchDB's {@code mango_idx_view} and {@code mango_selector} see it.
 */
public sealed interface NormalSelector {
  record Everything() implements NormalSelector {
    @Override
    public JsonObject json() {
      return new JsonObject(Map.of());
    }
  }

  /** Several that an operator joins: {@code $and} or {@code $or}, within elements {@code $nor}. */
  record Joined(String operator, List<NormalSelector> parts) implements NormalSelector {
    @Override
    public JsonObject json() {
      return single(
          operator, new JsonArray(parts.stream().map(it -> (JsonValue) it.json()).toList()));
    }
  }

  /** A negation within elements, where none is moved. */
  record Negated(NormalSelector part) implements NormalSelector {
    @Override
    public JsonObject json() {
      return single(NOT, part.json());
    }
  }

  /**
   * An operator on a field.
   *
   * @param name its path, as {@link #field} spells it
   */
  record Condition(String name, String operator, JsonValue argument) implements NormalSelector {
    @Override
    public JsonObject json() {
      return single(name, single(operator, argument));
    }
  }

  JsonObject json();

  String AND = "$and";
  String OR = "$or";
  String NOR = "$nor";
  String NOT = "$not";
  String ID = "_id";

  /** The last character in the collation's order, and the last one in the order of bytes. */
  String LAST = "\uffff";

  String LAST_OF_IDS = "\udbff\udfff";

  Set<String> OF_ELEMENTS = Set.of("$elemMatch", "$allMatch", "$keyMapMatch");

  Set<String> INDEXABLE = Set.of("$lt", "$lte", "$eq", "$gt", "$gte", "$beginsWith", "$exists");

  /** What an operator becomes when it is negated, with the same argument. */
  Map<String, String> OPPOSITES =
      Map.of(
          "$lt", "$gte",
          "$lte", "$gt",
          "$eq", "$ne",
          "$ne", "$eq",
          "$gte", "$lt",
          "$gt", "$lte",
          "$in", "$nin",
          "$nin", "$in");

  /**
   * @throws lectus.error.LectusException 400 {@code invalid_selector}: each field has its whole
   *     path here, and all together would be too long
   */
  static NormalSelector of(JsonObject selector) {
    if (selector.members().isEmpty()) {
      return new Everything();
    }
    JsonObject explicit = explicit(selector);
    SelectorLimits.checkPaths(pathCharacters(explicit, 0));
    return normal(explicit, "", true, false);
  }

  /** Returns a field in the one way in which the normal form spells it. */
  static String field(String field) {
    return FieldPath.split(field).stream()
        .map(name -> name.replace("\\", "\\\\").replace(".", "\\."))
        .collect(Collectors.joining("."));
  }

  private static JsonObject single(String name, JsonValue argument) {
    return new JsonObject(Map.of(name, argument));
  }

  private static Map.Entry<String, JsonValue> only(JsonValue single) {
    return ((JsonObject) single).members().entrySet().iterator().next();
  }

  private static boolean isOperator(String name) {
    return name.startsWith("$");
  }

  private static boolean isJoining(String name) {
    return name.equals(AND) || name.equals(OR) || name.equals(NOR);
  }

  private static JsonObject explicit(JsonValue condition) {
    if (!(condition instanceof JsonObject object) || object.members().isEmpty()) {
      return single("$eq", condition);
    }
    if (object.members().size() > 1) {
      List<JsonValue> all = new ArrayList<>();
      object.members().forEach((name, each) -> all.add(explicit(single(name, each))));
      return single(AND, new JsonArray(all));
    }
    String name = only(object).getKey();
    JsonValue argument = only(object).getValue();
    if (isJoining(name)) {
      List<JsonValue> parts = new ArrayList<>();
      ((JsonArray) argument).elements().forEach(each -> parts.add(explicit(each)));
      return single(name, new JsonArray(parts));
    }
    boolean isOfConditions = !isOperator(name) || name.equals(NOT) || OF_ELEMENTS.contains(name);
    return isOfConditions ? single(name, explicit(argument)) : object;
  }

  /** Returns how long all paths are together. */
  private static long pathCharacters(JsonValue explicit, long outer) {
    String name = only(explicit).getKey();
    JsonValue argument = only(explicit).getValue();
    if (isJoining(name)) {
      return ((JsonArray) argument)
          .elements().stream().mapToLong(part -> pathCharacters(part, outer)).sum();
    }
    if (name.equals(NOT)) {
      return pathCharacters(argument, outer);
    }
    if (OF_ELEMENTS.contains(name)) {
      return outer + pathCharacters(argument, 0);
    }
    return isOperator(name) ? outer : pathCharacters(argument, outer + 1 + name.length());
  }

  /**
   * @param path the field around it
   * @param moves whether negations are moved to the operators
   */
  private static NormalSelector normal(
      JsonValue explicit, String path, boolean moves, boolean isNegated) {
    String name = only(explicit).getKey();
    JsonValue argument = only(explicit).getValue();
    if (isJoining(name)) {
      // De Morgan: a negation makes each of $and and $or the other one.
      boolean areNegated = moves && isNegated != name.equals(NOR);
      boolean isAll = name.equals(OR) == isNegated;
      return new Joined(
          moves ? (isAll ? AND : OR) : name,
          ((JsonArray) argument)
              .elements().stream().map(it -> normal(it, path, moves, areNegated)).toList());
    }
    if (name.equals(NOT)) {
      return moves
          ? normal(argument, path, true, !isNegated)
          : new Negated(normal(argument, path, false, false));
    }
    if (!isOperator(name)) {
      String longer = path.isEmpty() ? field(name) : path + "." + field(name);
      return normal(argument, longer, moves, isNegated);
    }
    JsonValue own =
        OF_ELEMENTS.contains(name) ? normal(argument, "", false, false).json() : argument;
    if (!isNegated) {
      return new Condition(path, name, own);
    }
    if (name.equals("$exists")) {
      return new Condition(path, name, new JsonBool(!((JsonBool) own).value()));
    }
    return OPPOSITES.containsKey(name)
        ? new Condition(path, OPPOSITES.get(name), own)
        : new Condition(path, NOT, single(name, own));
  }

  /** Returns all fields, as often as they occur; those within elements have no names here. */
  default List<String> all() {
    List<String> fields = new ArrayList<>();
    addAll(this, fields);
    return fields;
  }

  private static void addAll(NormalSelector selector, List<String> fields) {
    if (selector instanceof Joined joined) {
      joined.parts().forEach(part -> addAll(part, fields));
    } else if (selector instanceof Condition condition) {
      fields.add(condition.name());
    }
  }

  /** Returns what all must match: its parts if it is an {@code $and}, and theirs, else itself. */
  private List<NormalSelector> required() {
    return this instanceof Joined joined && joined.operator().equals(AND)
        ? joined.parts().stream().flatMap(it -> it.required().stream()).toList()
        : List.of(this);
  }

  private List<Condition> conditions() {
    return required().stream()
        .filter(Condition.class::isInstance)
        .map(Condition.class::cast)
        .toList();
  }

  private List<Condition> indexableConditions() {
    return conditions().stream().filter(it -> INDEXABLE.contains(it.operator())).toList();
  }

  /** Returns the fields whose conditions are ranges, each as CouchDB lists it: in textual order. */
  default Set<String> indexable() {
    return indexableConditions().stream()
        .map(Condition::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Returns the range of each indexable field; if no value of a field satisfies the selector, of
   * this field alone, as an empty value.
   */
  default Map<String, Optional<ValueRange>> ranges() {
    return rangesWithin(Map.of());
  }

  /** As above, of whatever lies in other ranges, too. Goes through the selector once. */
  private Map<String, Optional<ValueRange>> rangesWithin(Map<String, Optional<ValueRange>> known) {
    Map<String, Optional<ValueRange>> ranges = new TreeMap<>(known);
    for (Condition each : indexableConditions()) {
      Optional<ValueRange> range = ranges.getOrDefault(each.name(), Optional.of(ValueRange.ALL));
      Collation order = each.name().equals(ID) ? Collation.OF_IDS : Collation.ORDER;
      ranges.put(
          each.name(),
          each.operator().equals("$beginsWith")
              ? beginning(((JsonString) each.argument()).value(), order, range)
              : range.flatMap(it -> it.narrowed(each.operator(), each.argument(), order)));
    }
    for (Map.Entry<String, Optional<ValueRange>> range : ranges.entrySet()) {
      if (range.getValue().isEmpty()) {
        return Map.of(range.getKey(), Optional.empty());
      }
    }
    return ranges;
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
  default List<Map<String, Optional<ValueRange>>> alternatives(List<String> columns) {
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
    for (NormalSelector part : required()) {
      List<NormalSelector> each = alternatives(part, columns.get(one));
      if (!each.isEmpty()) {
        return each.stream().map(it -> it.rangesWithin(known)).toList();
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

  private static List<NormalSelector> alternatives(NormalSelector part, String column) {
    if (part instanceof Joined any) {
      boolean areNarrow =
          any.parts().stream()
              .map(NormalSelector::ranges)
              .allMatch(it -> isNarrowed(it, column) || it.containsValue(Optional.empty()));
      return areNarrow ? any.parts() : List.of();
    }
    return part instanceof Condition in && in.name().equals(column) && in.operator().equals("$in")
        ? ofArguments(column, (JsonArray) in.argument())
        : List.of();
  }

  /** An array is in it if one of its elements is. */
  private static List<NormalSelector> ofArguments(String column, JsonArray arguments) {
    List<NormalSelector> each = new ArrayList<>();
    arguments.elements().forEach(it -> each.add(new Condition(column, "$eq", it)));
    each.add(
        new Joined(
            AND,
            List.of(
                new Condition(column, "$gte", new JsonArray(List.of())),
                new Condition(column, "$lt", new JsonObject(Map.of())))));
    return each;
  }

  /** Whether it is an operator without arguments, for which CouchDB looks at nothing. */
  default boolean isVoid() {
    return this instanceof Joined joined && joined.parts().isEmpty();
  }

  /** Whether whatever it matches has all of these fields; of nothing, everything is true. */
  default boolean requires(Set<String> fields) {
    boolean matchesNothing =
        conditions().stream()
            .anyMatch(
                it ->
                    it.operator().equals("$in") && it.argument().equals(new JsonArray(List.of())));
    return isVoid() || matchesNothing || missing(fields).isEmpty();
  }

  /** Returns those of the fields that a document may lack though it matches. */
  private Set<String> missing(Set<String> fields) {
    Set<String> left = new TreeSet<>(fields);
    for (NormalSelector part : required()) {
      if (part instanceof Condition condition) {
        boolean isAbsence =
            condition.operator().equals("$exists") && !((JsonBool) condition.argument()).value();
        left.removeIf(it -> !isAbsence && it.equals(condition.name()));
      } else if (part instanceof Joined any && !any.parts().isEmpty()) {
        // An empty alternative is satisfied by everything.
        Set<String> known = left;
        left = new TreeSet<>();
        for (NormalSelector each : any.parts()) {
          left.addAll(each.missing(known));
        }
      }
    }
    return left;
  }

  /** Whether whatever it matches has one and the same value there. */
  default boolean isConstant(String field) {
    return conditions().stream()
        .anyMatch(it -> it.name().equals(field) && it.operator().equals("$eq"));
  }
}
