package lectus.derived;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;
import lectus.derived.Condition.Path;
import lectus.derived.FilterSize.RegexSize;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.json.LeafView;

/**
 * Compiles a selector's JSON into conditions. At the outermost level, a compiler pushes negations
 * down to the operators; the compiler for the selectors of elements does not.
 */
final class Compiler {
  private static final List<String> ID = List.of("_id");

  /** From so many on a search spends no more of the budget than as many comparisons. */
  private static final int MANY_EQUALITIES = 4;

  private final boolean pushesNegations;

  private Compiler(boolean pushesNegations) {
    this.pushesNegations = pushesNegations;
  }

  static Condition compile(JsonObject selector) {
    if (selector.members().isEmpty()) {
      return new Condition.All(List.of());
    }
    Condition condition = new Compiler(true).condition(selector, Path.ROOT, false);
    boolean named =
        !(condition instanceof Condition.At at && at.path().names().isEmpty())
            && !(condition instanceof Condition.Missing missing
                && missing.path().names().isEmpty());
    if (!named) {
      throw SelectorErrors.missingFieldName();
    }
    return condition;
  }

  private static Condition ofElements(JsonValue selector) {
    return new Compiler(false).condition(selector, Path.ROOT, false);
  }

  /** Returns the order in which values at the path are compared; elements have no ids. */
  private Collation order(Path path) {
    return pushesNegations && path.names().equals(ID) ? Collation.OF_IDS : Collation.ORDER;
  }

  private Condition condition(JsonValue json, Path path, boolean negated) {
    if (!(json instanceof JsonObject object) || object.members().isEmpty()) {
      return at(path, new Operator.Equal(Arguments.view(json), order(path)), negated);
    }
    List<Condition> conditions = new ArrayList<>(object.members().size());
    object
        .members()
        .forEach((name, argument) -> conditions.add(member(name, argument, path, negated)));
    return conditions.size() == 1 ? conditions.get(0) : joined(conditions, !negated);
  }

  private Condition member(String name, JsonValue argument, Path path, boolean negated) {
    if (name.isEmpty() && path.names().isEmpty()) {
      throw SelectorErrors.missingFieldName();
    }
    if (!name.startsWith("$")) {
      return condition(argument, path.then(name), negated);
    }
    return switch (name) {
      case "$and" -> joined(conditions(name, argument, path, negated), !negated);
      case "$or" -> joined(conditions(name, argument, path, negated), negated);
      case "$nor" -> nor(argument, path, negated);
      case "$not" -> not(argument, path, negated);
      case "$exists" -> exists(argument, path, negated);
      default -> at(path, operator(name, argument, order(path)), negated);
    };
  }

  /**
   * De Morgan: the negation of {@code $and} is the {@code $or} of the negations, and vice versa.
   */
  private static Condition joined(List<Condition> conditions, boolean all) {
    return all
        ? new Condition.All(withoutManyEqualities(conditions, true))
        : new Condition.Any(withoutManyEqualities(conditions, false));
  }

  /**
   * Puts one search in the place of many equalities of a field: those that {@code $or} joins, or
   * the negated ones that {@code $and} joins. Each document would be compared with all of them.
   */
  private static List<Condition> withoutManyEqualities(List<Condition> conditions, boolean all) {
    Map<List<String>, List<Condition.At>> byField = new LinkedHashMap<>();
    for (Condition condition : conditions) {
      if (condition instanceof Condition.At at && equality(at, all).isPresent()) {
        byField.computeIfAbsent(at.path().names(), names -> new ArrayList<>()).add(at);
      }
    }
    byField.values().removeIf(same -> same.size() < MANY_EQUALITIES);
    if (byField.isEmpty()) {
      return conditions;
    }
    List<Condition> fewer = new ArrayList<>();
    for (Condition condition : conditions) {
      boolean isGathered =
          condition instanceof Condition.At at
              && equality(at, all).isPresent()
              && byField.containsKey(at.path().names());
      if (!isGathered) {
        fewer.add(condition);
      }
    }
    byField.values().forEach(same -> fewer.add(gathered(same, all)));
    return fewer;
  }

  private static Condition gathered(List<Condition.At> same, boolean negated) {
    Path path = same.get(0).path();
    Collation order = equality(same.get(0), negated).orElseThrow().order();
    List<LeafView> arguments = new ArrayList<>(same.size());
    same.forEach(it -> arguments.add(equality(it, negated).orElseThrow().argument()));
    arguments.sort(order);
    return at(path, new Operator.EqualToOne(List.copyOf(arguments), order), negated);
  }

  private static Optional<Operator.Equal> equality(Condition.At condition, boolean negated) {
    Operator operator = condition.operator();
    if (negated) {
      operator = operator instanceof Operator.Not not ? not.operator() : null;
    }
    return operator instanceof Operator.Equal equal ? Optional.of(equal) : Optional.empty();
  }

  private List<Condition> conditions(String name, JsonValue argument, Path path, boolean negated) {
    List<Condition> conditions = new ArrayList<>();
    for (JsonValue each : Arguments.array(name, argument).elements()) {
      conditions.add(condition(each, path, negated));
    }
    return conditions;
  }

  private Condition nor(JsonValue argument, Path path, boolean negated) {
    if (pushesNegations) {
      return joined(conditions("$nor", argument, path, !negated), !negated);
    }
    List<Condition> none = new ArrayList<>();
    conditions("$nor", argument, path, false).forEach(it -> none.add(new Condition.Not(it)));
    return new Condition.All(none);
  }

  private Condition not(JsonValue argument, Path path, boolean negated) {
    JsonObject object = Arguments.object("$not", argument);
    return pushesNegations
        ? condition(object, path, !negated)
        : new Condition.Not(condition(object, path, false));
  }

  private static Condition exists(JsonValue argument, Path path, boolean negated) {
    if (!(argument instanceof JsonBool wanted)) {
      throw SelectorErrors.badArgument("$exists", argument);
    }
    return wanted.value() == negated
        ? new Condition.Missing(path)
        : new Condition.At(path, new Operator.Exists());
  }

  private static Condition at(Path path, Operator operator, boolean negated) {
    return new Condition.At(path, negated ? negation(operator) : operator);
  }

  private static Operator negation(Operator operator) {
    return operator instanceof Operator.Not not ? not.operator() : new Operator.Not(operator);
  }

  private static Operator operator(String name, JsonValue argument, Collation order) {
    return switch (name) {
      case "$eq" -> new Operator.Equal(Arguments.view(argument), order);
      case "$ne" -> new Operator.Not(new Operator.Equal(Arguments.view(argument), order));
      case "$lt" -> ordered(argument, order, result -> result < 0);
      case "$lte" -> ordered(argument, order, result -> result <= 0);
      case "$gt" -> ordered(argument, order, result -> result > 0);
      case "$gte" -> ordered(argument, order, result -> result >= 0);
      case "$in" -> in(name, argument, order);
      case "$nin" -> new Operator.Not(in(name, argument, order));
      case "$all" -> new Operator.Contains(Arguments.views(name, argument));
      case "$elemMatch" -> new Operator.AnyElement(ofElements(Arguments.object(name, argument)));
      case "$allMatch" -> new Operator.EveryElement(ofElements(Arguments.object(name, argument)));
      case "$keyMapMatch" -> new Operator.AnyName(ofElements(Arguments.object(name, argument)));
      case "$type" -> new Operator.OfType(Arguments.string(name, argument));
      case "$size" -> new Operator.OfSize(Arguments.size(name, argument));
      case "$mod" -> Arguments.remainder(name, argument);
      case "$regex" -> new Operator.Matches(RegularExpressions.compile(name, argument));
      case "$beginsWith" -> Arguments.prefix(name, argument);
      case "$text", "$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere" ->
          throw SelectorErrors.notSupported(name);
      default -> throw SelectorErrors.invalidOperator(name);
    };
  }

  private static Operator ordered(JsonValue argument, Collation order, IntPredicate test) {
    return new Operator.Ordered(Arguments.view(argument), order, test);
  }

  private static Operator in(String name, JsonValue argument, Collation order) {
    List<LeafView> arguments = new ArrayList<>(Arguments.views(name, argument));
    arguments.sort(order);
    return new Operator.In(List.copyOf(arguments), order);
  }

  /**
   * Clients' regular expressions. RE2 matches in time linear in the string, times the size of the
   * compiled expression. So this size is bounded before compilation ({@link SelectorLimits}):
   * counted repetitions copy what they repeat.
   */
  private static final class RegularExpressions {
    /** Maximum nesting depth of groups. */
    static final int DEEPEST_GROUPS = 100;

    private RegularExpressions() {}

    /**
     * @throws lectus.error.LectusException 400 {@code bad_arg} if it is not an expression, or too
     *     large; as in CouchDB, {@code invalid_operator} if it is not a string
     */
    static Pattern compile(String operator, JsonValue argument) {
      if (!(argument instanceof JsonString expression)) {
        throw SelectorErrors.invalidOperator(operator);
      }
      if (RegexSize.of(expression.value()).depth() > DEEPEST_GROUPS) {
        throw SelectorErrors.badArgument(operator, argument);
      }
      try {
        return Pattern.compile(expression.value());
      } catch (PatternSyntaxException e) {
        throw SelectorErrors.badArgument(operator, argument);
      }
    }
  }
}
