package lectus.mango.selector;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;

/**
 * CouchDB's normal form of a selector, which indexes are chosen by and {@code _explain} shows: each
 * object has one member, every operator is explicit, fields are paths that stand right before their
 * operators, and negations are moved to the operators. Of selectors that {@link Selector} compiles.
 */
public final class NormalSelector {
  static final String AND = "$and";
  static final String OR = "$or";
  static final String NOR = "$nor";
  static final String NOT = "$not";

  private static final List<String> OF_ELEMENTS =
      List.of("$elemMatch", "$allMatch", "$keyMapMatch");

  /** What an operator without an argument's change becomes when it is negated. */
  private static final Map<String, String> OPPOSITES =
      Map.of(
          "$lt", "$gte",
          "$lte", "$gt",
          "$eq", "$ne",
          "$ne", "$eq",
          "$gte", "$lt",
          "$gt", "$lte",
          "$in", "$nin",
          "$nin", "$in");

  private NormalSelector() {}

  /**
   * @throws lectus.error.LectusException 400 {@code invalid_selector}: each field has its whole
   *     path here, and all together would be too long
   */
  public static JsonObject of(JsonObject selector) {
    if (selector.members().isEmpty()) {
      return selector;
    }
    JsonObject explicit = explicit(selector);
    SelectorLimits.checkPaths(pathCharacters(explicit, 0));
    return negationsMoved(fieldsMoved(explicit, ""));
  }

  /** Returns how long all paths are together. */
  private static long pathCharacters(JsonObject selector, long outer) {
    String name = name(selector);
    if (isJoining(name)) {
      return parts(selector).stream().mapToLong(part -> pathCharacters(part, outer)).sum();
    }
    if (name.equals(NOT)) {
      return pathCharacters((JsonObject) argument(selector), outer);
    }
    if (OF_ELEMENTS.contains(name)) {
      return outer + pathCharacters((JsonObject) argument(selector), 0);
    }
    return isOperator(name)
        ? outer
        : pathCharacters((JsonObject) argument(selector), outer + 1 + name.length());
  }

  /** Returns a field in the one way in which the normal form spells it. */
  public static String field(String field) {
    StringBuilder spelled = new StringBuilder(field.length());
    for (String name : FieldPath.split(field)) {
      spelled
          .append(spelled.isEmpty() ? "" : ".")
          .append(name.replace("\\", "\\\\").replace(".", "\\."));
    }
    return spelled.toString();
  }

  /** Returns the name of an object's only member. */
  static String name(JsonObject single) {
    return single.members().keySet().iterator().next();
  }

  /** Returns the value of an object's only member. */
  static JsonValue argument(JsonObject single) {
    return single.members().values().iterator().next();
  }

  static boolean isOperator(String name) {
    return name.startsWith("$");
  }

  static boolean isJoining(String name) {
    return name.equals(AND) || name.equals(OR) || name.equals(NOR);
  }

  /** Returns the parts of an operator that joins several. */
  static List<JsonObject> parts(JsonObject joining) {
    return ((JsonArray) argument(joining)).elements().stream().map(JsonObject.class::cast).toList();
  }

  static JsonObject single(String name, JsonValue argument) {
    return new JsonObject(Map.of(name, argument));
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
    String name = name(object);
    JsonValue argument = argument(object);
    if (isJoining(name)) {
      List<JsonValue> parts = new ArrayList<>();
      ((JsonArray) argument).elements().forEach(each -> parts.add(explicit(each)));
      return single(name, new JsonArray(parts));
    }
    boolean isOfConditions = !isOperator(name) || name.equals(NOT) || OF_ELEMENTS.contains(name);
    return isOfConditions ? single(name, explicit(argument)) : object;
  }

  private static JsonObject fieldsMoved(JsonObject selector, String path) {
    String name = name(selector);
    JsonValue argument = argument(selector);
    if (isJoining(name)) {
      return joined(selector, part -> fieldsMoved(part, path));
    }
    if (name.equals(NOT)) {
      return single(NOT, fieldsMoved((JsonObject) argument, path));
    }
    if (OF_ELEMENTS.contains(name)) {
      return single(path, single(name, fieldsMoved((JsonObject) argument, "")));
    }
    if (isOperator(name)) {
      return single(path, selector);
    }
    String longer = path.isEmpty() ? field(name) : path + "." + field(name);
    return fieldsMoved((JsonObject) argument, longer);
  }

  private static JsonObject negationsMoved(JsonObject selector) {
    return switch (name(selector)) {
      case NOT -> negated((JsonObject) argument(selector));
      case NOR -> renamed(AND, joined(selector, NormalSelector::negated));
      case AND, OR -> joined(selector, NormalSelector::negationsMoved);
      default -> selector;
    };
  }

  private static JsonObject negated(JsonObject selector) {
    String name = name(selector);
    JsonValue argument = argument(selector);
    return switch (name) {
      case NOT -> negationsMoved((JsonObject) argument);
      case NOR -> renamed(OR, joined(selector, NormalSelector::negationsMoved));
      case AND -> renamed(OR, joined(selector, NormalSelector::negated));
      case OR -> renamed(AND, joined(selector, NormalSelector::negated));
      case "$exists" -> single(name, new JsonBool(!((JsonBool) argument).value()));
      default -> {
        if (OPPOSITES.containsKey(name)) {
          yield single(OPPOSITES.get(name), argument);
        }
        yield isOperator(name)
            ? single(NOT, selector)
            : single(name, negated((JsonObject) argument));
      }
    };
  }

  private static JsonObject joined(JsonObject selector, UnaryOperator<JsonObject> change) {
    List<JsonValue> parts = new ArrayList<>();
    parts(selector).forEach(part -> parts.add(change.apply(part)));
    return single(name(selector), new JsonArray(parts));
  }

  private static JsonObject renamed(String name, JsonObject single) {
    return single(name, argument(single));
  }
}
