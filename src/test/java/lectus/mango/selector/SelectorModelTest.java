package lectus.mango.selector;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import lectus.error.LectusException;
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

  @Property(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
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
}
