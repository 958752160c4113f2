package lectus.derived;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Selectors on leaves, on all of them or on those that are read, agree with selectors on trees. */
final class SelectorModelTest {
  /** Stored in several rows. */
  private static final String LONG = "'a" + "x".repeat(150_000) + "b'";

  private static final String NO_FIELD = "missing a field name";

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void leaves_and_trees_agree(
      @ForAll("selectors") String selector, @ForAll("documents") String document) {
    Selector compiled;
    try {
      compiled = Documents.selector(selector);
    } catch (LectusException e) {
      assertThat(e.error().reason()).contains(NO_FIELD);
      return;
    }
    assertThat(Documents.matches(compiled, document))
        .as("%s on %s", selector, document)
        .isEqualTo(NaiveSelector.matches(Documents.json(selector), Documents.json(document)));
  }

  @Provide
  Arbitrary<String> documents() {
    return object(values(3));
  }

  @Provide
  Arbitrary<String> selectors() {
    Arbitrary<String> fields = field(3);
    return Arbitraries.frequencyOf(
        Tuple.of(6, members(fields)), Tuple.of(1, combined(members(fields))));
  }

  private static Arbitrary<String> names() {
    return Arbitraries.of("a", "b", "c", "0", "1");
  }

  private static Arbitrary<String> values(int depth) {
    Arbitrary<String> scalar =
        Arbitraries.frequencyOf(
            Tuple.of(
                30,
                Arbitraries.of(
                    "null", "true", "false", "0", "1", "1.0", "2.5", "-3", "'a'", "'ab'", "'b'",
                    "''", "[]", "{}")),
            Tuple.of(1, Arbitraries.of(LONG, LONG.replace("b'", "c'"))));
    if (depth == 0) {
      return scalar;
    }
    Arbitrary<String> deeper = Arbitraries.lazy(() -> values(depth - 1));
    return Arbitraries.frequencyOf(
        Tuple.of(3, scalar), Tuple.of(1, object(deeper)), Tuple.of(1, array(deeper)));
  }

  private static Arbitrary<String> object(Arbitrary<String> values) {
    return Arbitraries.maps(names(), values)
        .ofMaxSize(4)
        .map(
            members ->
                members.entrySet().stream()
                    .map(it -> "'" + it.getKey() + "':" + it.getValue())
                    .collect(Collectors.joining(",", "{", "}")));
  }

  private static Arbitrary<String> array(Arbitrary<String> values) {
    return values.list().ofMaxSize(3).map(it -> "[" + String.join(",", it) + "]");
  }

  private static Arbitrary<String> members(Arbitrary<String> member) {
    return member.list().ofMinSize(1).ofMaxSize(2).map(it -> "{" + String.join(",", it) + "}");
  }

  /** Generates {@code 'a.b':condition}. */
  private static Arbitrary<String> field(int depth) {
    Arbitrary<String> path =
        names().list().ofMinSize(1).ofMaxSize(3).map(it -> String.join(".", it));
    Arbitrary<String> condition =
        depth == 0
            ? Arbitraries.oneOf(values(1), members(operator()))
            : Arbitraries.frequencyOf(
                Tuple.of(1, values(1)),
                Tuple.of(3, members(operator())),
                Tuple.of(1, combined(members(operator()))),
                Tuple.of(2, nested(depth)),
                Tuple.of(1, Arbitraries.lazy(() -> members(field(depth - 1)))));
    return Combinators.combine(path, condition).as((p, c) -> "'" + p + "':" + c);
  }

  private static Arbitrary<String> nested(int depth) {
    Arbitrary<String> inner =
        Arbitraries.lazy(
            () ->
                Arbitraries.oneOf(
                    members(field(depth - 1)),
                    members(operator()),
                    combined(members(field(depth - 1)))));
    return Combinators.combine(Arbitraries.of("$elemMatch", "$allMatch", "$keyMapMatch"), inner)
        .as((operator, it) -> "{'" + operator + "':" + it + "}");
  }

  private static Arbitrary<String> combined(Arbitrary<String> condition) {
    Arbitrary<String> listed =
        Combinators.combine(Arbitraries.of("$and", "$or", "$nor"), condition.list().ofMaxSize(3))
            .as((operator, it) -> "{'" + operator + "':[" + String.join(",", it) + "]}");
    return Arbitraries.oneOf(
        listed,
        condition.map(it -> "{'$not':" + it + "}"),
        listed.map(it -> "{'$not':" + it + "}"),
        listed.map(it -> "{'$nor':[" + it + "]}"));
  }

  private static Arbitrary<String> operator() {
    List<String> comparing = List.of("$lt", "$lte", "$eq", "$ne", "$gte", "$gt");
    return Arbitraries.oneOf(
        Combinators.combine(Arbitraries.of(comparing), values(2))
            .as((operator, it) -> "'" + operator + "':" + it),
        Combinators.combine(Arbitraries.of("$in", "$nin", "$all"), array(values(1)))
            .as((operator, it) -> "'" + operator + "':" + it),
        Arbitraries.of(
            "'$exists':true",
            "'$exists':false",
            "'$type':'array'",
            "'$type':'object'",
            "'$type':'number'",
            "'$type':'string'",
            "'$type':'boolean'",
            "'$type':'null'",
            "'$size':0",
            "'$size':2",
            "'$mod':[2,1]",
            "'$mod':[3,0]",
            "'$regex':'b'",
            "'$regex':'^a'",
            "'$beginsWith':'a'"));
  }

  /**
   * Selectors on trees, in the three steps of CouchDB's {@code mango_selector}: operators made
   * explicit, fields moved to the conditions, negations pushed down. Strings are compared by their
   * characters, so they must not differ in case.
   */
  private static final class NaiveSelector {
    /** A node: an operator with children or an argument, or a path with one child. */
    private record Node(
        String operator, List<Node> children, List<String> path, JsonValue argument) {
      static Node of(String operator, List<Node> children) {
        return new Node(operator, children, null, null);
      }

      static Node terminal(String operator, JsonValue argument) {
        return new Node(operator, null, null, argument);
      }

      static Node field(List<String> path, Node child) {
        return new Node(null, List.of(child), path, null);
      }

      Node with(List<Node> others) {
        return new Node(operator, others, path, argument);
      }
    }

    private static final List<String> COMBINING = List.of("$and", "$or", "$nor", "$not");
    private static final List<String> ELEMENTS = List.of("$elemMatch", "$allMatch", "$keyMapMatch");

    private NaiveSelector() {}

    static boolean matches(JsonValue selector, JsonValue document) {
      if (((JsonObject) selector).members().isEmpty()) {
        return true;
      }
      return match(negationsDown(fieldsDown(explicit(selector), List.of())), document);
    }

    private static Node explicit(JsonValue json) {
      if (!(json instanceof JsonObject object) || object.members().isEmpty()) {
        return Node.terminal("$eq", json);
      }
      List<Node> nodes = new ArrayList<>();
      object.members().forEach((name, argument) -> nodes.add(explicit(name, argument)));
      return nodes.size() == 1 ? nodes.get(0) : Node.of("$and", nodes);
    }

    private static Node explicit(String name, JsonValue argument) {
      if (!name.startsWith("$")) {
        return Node.field(List.of(name.split("\\.")), explicit(argument));
      }
      if (name.equals("$not") || ELEMENTS.contains(name)) {
        return Node.of(name, List.of(explicit(argument)));
      }
      return COMBINING.contains(name)
          ? Node.of(
              name, ((JsonArray) argument).elements().stream().map(it -> explicit(it)).toList())
          : Node.terminal(name, argument);
    }

    private static Node fieldsDown(Node node, List<String> path) {
      if (node.path() != null) {
        List<String> longer = new ArrayList<>(path);
        longer.addAll(node.path());
        return fieldsDown(node.children().get(0), longer);
      }
      if (COMBINING.contains(node.operator())) {
        return node.with(node.children().stream().map(it -> fieldsDown(it, path)).toList());
      }
      if (ELEMENTS.contains(node.operator())) {
        Node child = fieldsDown(node.children().get(0), List.of());
        return Node.field(path, node.with(List.of(child)));
      }
      return Node.field(path, node);
    }

    private static Node negationsDown(Node node) {
      if (node.path() != null) {
        return node;
      }
      return switch (node.operator()) {
        case "$not" -> negated(node.children().get(0));
        case "$nor" ->
            Node.of("$and", node.children().stream().map(NaiveSelector::negated).toList());
        default -> node.with(node.children().stream().map(NaiveSelector::negationsDown).toList());
      };
    }

    private static Node negated(Node node) {
      if (node.path() != null) {
        return Node.field(node.path(), negated(node.children().get(0)));
      }
      return switch (node.operator()) {
        case "$not" -> negationsDown(node.children().get(0));
        case "$nor" ->
            Node.of("$or", node.children().stream().map(NaiveSelector::negationsDown).toList());
        case "$and" ->
            Node.of("$or", node.children().stream().map(NaiveSelector::negated).toList());
        case "$or" ->
            Node.of("$and", node.children().stream().map(NaiveSelector::negated).toList());
        case "$lt" -> Node.terminal("$gte", node.argument());
        case "$lte" -> Node.terminal("$gt", node.argument());
        case "$gt" -> Node.terminal("$lte", node.argument());
        case "$gte" -> Node.terminal("$lt", node.argument());
        case "$eq" -> Node.terminal("$ne", node.argument());
        case "$ne" -> Node.terminal("$eq", node.argument());
        case "$in" -> Node.terminal("$nin", node.argument());
        case "$nin" -> Node.terminal("$in", node.argument());
        case "$exists" ->
            Node.terminal("$exists", new JsonBool(!((JsonBool) node.argument()).value()));
        default -> Node.of("$not", List.of(node));
      };
    }

    private static boolean match(Node node, JsonValue value) {
      if (node.path() != null) {
        return matchField(node, value);
      }
      List<Node> children = node.children();
      return switch (node.operator()) {
        case "$and" -> children.stream().allMatch(it -> match(it, value));
        case "$or" -> children.isEmpty() || children.stream().anyMatch(it -> match(it, value));
        case "$nor" -> children.stream().noneMatch(it -> match(it, value));
        case "$not" -> !match(children.get(0), value);
        case "$elemMatch" ->
            value instanceof JsonArray array
                && array.elements().stream().anyMatch(it -> match(children.get(0), it));
        case "$allMatch" ->
            value instanceof JsonArray array
                && !array.elements().isEmpty()
                && array.elements().stream().allMatch(it -> match(children.get(0), it));
        case "$keyMapMatch" ->
            value instanceof JsonObject object
                && object.members().keySet().stream()
                    .anyMatch(it -> match(children.get(0), new JsonString(it)));
        default -> matchTerminal(node.operator(), node.argument(), value);
      };
    }

    private static boolean matchField(Node node, JsonValue value) {
      Node child = node.children().get(0);
      JsonValue at = value;
      for (String name : node.path()) {
        if (at instanceof JsonObject object) {
          if (!object.members().containsKey(name)) {
            return "$exists".equals(child.operator()) && !((JsonBool) child.argument()).value();
          }
          at = object.members().get(name);
        } else if (at instanceof JsonArray array
            && name.matches("\\d+")
            && Integer.parseInt(name) < array.elements().size()) {
          at = array.elements().get(Integer.parseInt(name));
        } else {
          return false;
        }
      }
      return match(child, at);
    }

    private static boolean matchTerminal(String operator, JsonValue argument, JsonValue value) {
      return switch (operator) {
        case "$lt" -> compare(value, argument) < 0;
        case "$lte" -> compare(value, argument) <= 0;
        case "$gt" -> compare(value, argument) > 0;
        case "$gte" -> compare(value, argument) >= 0;
        case "$eq" -> compare(value, argument) == 0;
        case "$ne" -> compare(value, argument) != 0;
        case "$in" -> in((JsonArray) argument, value);
        case "$nin" -> !in((JsonArray) argument, value);
        case "$all" -> all(((JsonArray) argument).elements(), value);
        case "$exists" -> ((JsonBool) argument).value();
        case "$type" -> type(value).equals(((JsonString) argument).value());
        case "$size" ->
            value instanceof JsonArray array
                && String.valueOf(array.elements().size()).equals(((JsonNumber) argument).text());
        case "$mod" -> mod(((JsonArray) argument).elements(), value);
        case "$regex" ->
            value instanceof JsonString string
                && Pattern.compile(((JsonString) argument).value()).matcher(string.value()).find();
        case "$beginsWith" ->
            value instanceof JsonString string
                && string.value().startsWith(((JsonString) argument).value());
        default -> throw new IllegalArgumentException(operator);
      };
    }

    private static boolean in(JsonArray arguments, JsonValue value) {
      List<JsonValue> values = value instanceof JsonArray array ? array.elements() : List.of(value);
      return arguments.elements().stream()
          .anyMatch(argument -> values.stream().anyMatch(it -> compare(it, argument) == 0));
    }

    private static boolean all(List<JsonValue> arguments, JsonValue value) {
      if (arguments.isEmpty() || !(value instanceof JsonArray array)) {
        return false;
      }
      return arguments.stream()
              .allMatch(argument -> array.elements().stream().anyMatch(it -> same(it, argument)))
          || (arguments.size() == 1 && compare(value, arguments.get(0)) == 0);
    }

    /** Whether they are equal, with {@code 1} and {@code 1.0} considered different. */
    private static boolean same(JsonValue a, JsonValue b) {
      return sorted(a).equals(sorted(b));
    }

    private static Object sorted(JsonValue value) {
      if (value instanceof JsonObject object) {
        Map<String, Object> members = new TreeMap<>();
        object.members().forEach((name, member) -> members.put(name, sorted(member)));
        return members;
      }
      return value instanceof JsonArray array
          ? array.elements().stream().map(NaiveSelector::sorted).toList()
          : value;
    }

    private static boolean mod(List<JsonValue> arguments, JsonValue value) {
      if (!(value instanceof JsonNumber number) || number.text().contains(".")) {
        return false;
      }
      BigInteger divisor = new BigInteger(((JsonNumber) arguments.get(0)).text());
      BigInteger remainder = new BigInteger(((JsonNumber) arguments.get(1)).text());
      return new BigInteger(number.text()).remainder(divisor).equals(remainder);
    }

    private static String type(JsonValue value) {
      return List.of("null", "boolean", "boolean", "number", "string", "array", "object")
          .get(rank(value));
    }

    private static int rank(JsonValue value) {
      if (value instanceof JsonNull) {
        return 0;
      }
      if (value instanceof JsonBool bool) {
        return bool.value() ? 2 : 1;
      }
      return value instanceof JsonNumber
          ? 3
          : value instanceof JsonString ? 4 : value instanceof JsonArray ? 5 : 6;
    }

    private static int compare(JsonValue a, JsonValue b) {
      if (rank(a) != rank(b)) {
        return rank(a) - rank(b);
      }
      if (a instanceof JsonNumber number) {
        return new BigDecimal(number.text()).compareTo(new BigDecimal(((JsonNumber) b).text()));
      }
      if (a instanceof JsonString string) {
        return string.value().compareTo(((JsonString) b).value());
      }
      if (a instanceof JsonArray array) {
        return compare(array.elements(), ((JsonArray) b).elements());
      }
      return a instanceof JsonObject object ? compare(pairs(object), pairs((JsonObject) b)) : 0;
    }

    /** Returns names and values in turn, in the order of the names. */
    private static List<JsonValue> pairs(JsonObject object) {
      List<JsonValue> pairs = new ArrayList<>();
      object.members().entrySet().stream()
          .sorted(Comparator.comparing(Map.Entry::getKey))
          .forEach(
              member -> {
                pairs.add(new JsonString(member.getKey()));
                pairs.add(member.getValue());
              });
      return pairs;
    }

    private static int compare(List<JsonValue> a, List<JsonValue> b) {
      for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
        int order = compare(a.get(i), b.get(i));
        if (order != 0) {
          return order;
        }
      }
      return a.size() - b.size();
    }
  }
}
