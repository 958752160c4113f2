package lectus.derived;

import static lectus.derived.Documents.matches;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.tuple.Tuple;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What CouchDB's documentation, its {@code mango_selector} and their tests say about operators. */
final class SelectorTest {
  private record Row(String selector, List<String> matching, List<String> others) {}

  private static Row row(String selector, List<String> matching, List<String> others) {
    return new Row(selector, matching, others);
  }

  static Stream<Arguments> operators() {
    return Stream.of(
            row("{'$lt':5}", List.of("4", "null", "true"), List.of("5", "6", "'a'", "[]", "{}")),
            row("{'$lt':'hello'}", List.of("'held'", "9"), List.of("'hello'", "'help'")),
            row(
                "{'$lt':[1,2,3]}",
                List.of("[1,2,2]", "[1,2]", "[]", "'z'"),
                List.of("[1,2,3]", "[1,2,4]", "[1,3]", "{}")),
            row("{'$lte':5}", List.of("4", "5", "5.0"), List.of("6", "5.1")),
            row("{'$gt':5}", List.of("6", "'a'", "[]", "{'b':1}"), List.of("4", "5", "true")),
            row("{'$gt':[1,2,3]}", List.of("[1,2,4]", "[1,3]"), List.of("[1,2,3]", "[1,2]")),
            row("{'$gte':null}", List.of("null", "false", "0", "{}"), List.of()),
            row("{'$gte':{'a':1}}", List.of("{'a':1}", "{'b':0}"), List.of("{}", "{'a':0}", "[9]")),
            row("{'$eq':5}", List.of("5", "5.0", "5e0"), List.of("6", "'5'", "[5]", "{'b':5}")),
            row("5", List.of("5"), List.of("6", "[5]")),
            row("null", List.of("null"), List.of("false", "0")),
            row(
                "{'$eq':[1,[2,3,4],5]}",
                List.of("[1,[2,3,4],5]"),
                List.of("[1,[2,3,4]]", "[1,[2,3,4],5,6]", "[1,[2,7,4],5]")),
            row(
                "{'$eq':{'a':{'b':{'c':7}}}}",
                List.of("{'a':{'b':{'c':7}}}"),
                List.of("{'a':{'b':{'c':8}}}", "{'a':{'b':{'d':7}}}", "{'a':{'d':{'c':7}}}")),
            row("{'$eq':{'a':1,'b':2}}", List.of("{'b':2,'a':1}"), List.of("{'a':1}")),
            row("{'$ne':5}", List.of("6", "null", "[5]"), List.of("5")),
            row("{'$in':[]}", List.of(), List.of("0", "true", "'foo'", "[]")),
            row(
                "{'$in':[42,false,'bar',[['nested'],'list'],{'b':2}]}",
                List.of(
                    "42",
                    "42.0",
                    "false",
                    "'bar'",
                    "{'b':2}",
                    "[0,42]",
                    "[0,false]",
                    "[0,'bar']",
                    "[0,{'b':2}]",
                    "[0,[['nested'],'list']]"),
                List.of("43", "true", "'bars'", "{'b':2,'c':3}", "[['nested'],'list']")),
            row("{'$nin':[]}", List.of("0", "true", "'foo'"), List.of()),
            row(
                "{'$nin':[42,false]}",
                List.of("43", "true", "[1]", "[]"),
                List.of("42", "false", "[0,42]")),
            row("{'$all':[]}", List.of(), List.of("[]", "[42]", "{}", "'foo'")),
            row(
                "{'$all':[1,2,3,4]}",
                List.of("[3,2,4,1]", "[0,4,3,5,2,1,6]"),
                List.of("[3,2,4]", "[]", "1")),
            row(
                "{'$all':[[1,2,3,4]]}",
                List.of("[1,2,3,4]", "[5,[1,2,3,4],6]"),
                List.of("[4,3,2,1]", "[1,3,4]", "[]", "[5,[1,3,4],6]", "[5,[1,3,2,4],6]")),
            row("{'$all':['hello']}", List.of("['hello']", "[0,'hello']"), List.of("'hello'")),
            row("{'$all':[{'a':1}]}", List.of("[{'a':1}]"), List.of("[{'a':1,'b':2}]")),
            row("{'$all':[1]}", List.of("[1]"), List.of("[1.0]")),
            row("{'$exists':true}", List.of("null", "{}", "[]", "{'b':1}"), List.of()),
            row("{'$exists':false}", List.of(), List.of("null", "{}", "[]", "{'b':1}")),
            row("{'$type':'null'}", List.of("null"), List.of("false", "{}")),
            row("{'$type':'boolean'}", List.of("true", "false"), List.of("0")),
            row("{'$type':'number'}", List.of("42", "3.14", "0"), List.of("true", "[1]", "'1'")),
            row("{'$type':'string'}", List.of("''", "'hello'"), List.of("[]")),
            row("{'$type':'array'}", List.of("[]", "[1,2]"), List.of("{}", "'hi'")),
            row("{'$type':'object'}", List.of("{}", "{'a':1}"), List.of("[{'a':1}]", "null")),
            row("{'$type':'unheard'}", List.of(), List.of("null", "{}")),
            row(
                "{'$regex':'^[0-9a-f]+$'}",
                List.of("'3a0df5e'"),
                List.of("''", "'3a0gf5e'", "42", "['a']")),
            row("{'$regex':'(?i)new.*'}", List.of("'a New day'"), List.of("'old'")),
            row(
                "{'$beginsWith':'foo'}",
                List.of("'foo'", "'food'"),
                List.of("'more food'", "'fo'", "42", "['foo']")),
            row("{'$mod':[28,1]}", List.of("1", "29", "57"), List.of("58", "'57'", "1.0", "[1]")),
            row("{'$mod':[3,-1]}", List.of("-1", "-4"), List.of("2", "-2")),
            row("{'$mod':[10,7]}", List.of("100000000000000000000000000007"), List.of("8")),
            row(
                "{'$size':3}",
                List.of("[0,0,0]", "[[1,2],{},[]]"),
                List.of("3", "'fun'", "[0,0]", "[0,0,0,0]", "{'a':1,'b':1,'c':1}")),
            row("{'$size':0}", List.of("[]"), List.of("{}", "[0]")),
            row("{'$allMatch':{'$eq':0}}", List.of("[0]"), List.of("[]", "[1]", "[0,1]", "0")),
            row("{'$elemMatch':{'$ne':0}}", List.of("[1]", "[0,1]"), List.of("[]", "[0]", "1")),
            row("{'$elemMatch':{'$eq':0}}", List.of("[0]", "[0,1]"), List.of("[]", "[1]")),
            row(
                "{'$elemMatch':{'$gte':80,'$lt':85}}",
                List.of("[82]", "[1,84]"),
                List.of("[79,85]")),
            row(
                "{'$elemMatch':{'foo':{'$gte':1},'bam':true}}",
                List.of("[{'foo':2,'bam':true}]"),
                List.of("[{'foo':1,'bar':2}]", "[{'foo':1},{'bam':true}]", "[]")),
            row(
                "{'$allMatch':{'foo':{'$mod':[2,1]},'bar':{'$mod':[2,0]}}}",
                List.of("[{'foo':1,'bar':2},{'foo':3,'bar':4}]"),
                List.of("[{'foo':1,'bar':2},{'foo':4,'bar':4}]")),
            row("{'$elemMatch':{}}", List.of("[{}]"), List.of("[]", "[{'a':1}]", "[1]")),
            row("{'$elemMatch':{'$not':{'b':1}}}", List.of("[{}]", "[{'b':2}]"), List.of("[]")),
            row("{'$elemMatch':{'$nor':[{'b':1},{'b':2}]}}", List.of("[{'b':3}]"), List.of()),
            row(
                "{'$elemMatch':{'$elemMatch':1}}".replace(":1}}", ":{'$eq':1}}}"),
                List.of("[[0],[2,1]]"),
                List.of("[1]", "[[0]]")),
            row(
                "{'$keyMapMatch':{'$regex':'^[a-z]+$'}}",
                List.of("{'hello':0}", "{'a':1,'b4':2}"),
                List.of("{'b4':2}", "{}", "['a']")),
            row("{'$keyMapMatch':{'$eq':'aa'}}", List.of("{'aa':1,'bb':2}"), List.of("{'cc':1}")))
        .flatMap(SelectorTest::cases);
  }

  private static Stream<Arguments> cases(Row row) {
    return Stream.concat(
        row.matching().stream().map(value -> Arguments.of(row.selector(), value, true)),
        row.others().stream().map(value -> Arguments.of(row.selector(), value, false)));
  }

  @ParameterizedTest
  @MethodSource("operators")
  void an_operator_of_a_field_that_is_there(String condition, String value, boolean expected) {
    String document = "{'w':1,'x':" + value + ",'xx':1}";
    assertThat(matches("{'x':" + condition + "}", document)).isEqualTo(expected);
    assertThat(matches("{'$and':[{'x':" + condition + "},{'w':1}]}", document)).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("operators")
  void its_negation(String condition, String value, boolean expected) {
    if (!condition.startsWith("{")) {
      return;
    }
    String document = "{'w':1,'x':" + value + ",'xx':1}";
    assertThat(matches("{'x':{'$not':" + condition + "}}", document)).isEqualTo(!expected);
    assertThat(matches("{'$nor':[{'x':" + condition + "}]}", document)).isEqualTo(!expected);
    assertThat(matches("{'$not':{'$not':{'x':" + condition + "}}}", document)).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("operators")
  void a_missing_field_passes_nothing_but_exists_false(
      String condition, String value, boolean expected) {
    boolean asksForMissing = condition.equals("{'$exists':false}");
    assertThat(matches("{'y':" + condition + "}", "{'x':1}")).isEqualTo(asksForMissing);
    boolean asksForPresent = condition.equals("{'$exists':true}");
    if (condition.startsWith("{")) {
      assertThat(matches("{'y':{'$not':" + condition + "}}", "{'x':1}")).isEqualTo(asksForPresent);
    }
  }

  private static final List<String> OBJECTS =
      List.of("{}", "{'x':{}}", "{'x':{'a':1}}", "{'x':{'a':1,'b':2}}", "{'x':[]}");

  private static List<Integer> matching(String selector) {
    return Stream.iterate(0, i -> i < OBJECTS.size(), i -> i + 1)
        .filter(i -> matches(selector, OBJECTS.get(i)))
        .map(i -> i + 1)
        .toList();
  }

  @Test
  void nested_objects() {
    assertThat(matching("{}")).containsExactly(1, 2, 3, 4, 5);
    assertThat(matching("{'x':{}}")).containsExactly(2);
    assertThat(matching("{'$not':{'x':{}}}")).containsExactly(3, 4, 5);
    assertThat(matching("{'x':{'a':1}}")).containsExactly(3, 4);
    assertThat(matching("{'x':{'a':1,'b':2}}")).containsExactly(4);
    assertThat(matching("{'x.b':2}")).containsExactly(4);
    assertThat(matching("{'x':{'$eq':{'a':1}}}")).containsExactly(3);
  }

  @Test
  void empty_lists_of_conditions_hold_for_everything_even_negated() {
    for (String operator : List.of("$and", "$or", "$nor")) {
      for (String document : List.of("{}", "{'x':0}", "{'x':[]}")) {
        String empty = "{'" + operator + "':[]}";
        assertThat(matches("{'x':" + empty + "}", document)).isTrue();
        assertThat(matches("{'x':{'$not':" + empty + "}}", document)).isTrue();
        assertThat(matches(empty, document)).isTrue();
      }
    }
  }

  @Test
  void several_conditions_of_one_field_and_their_negation() {
    String between = "{'$and':[{'$gt':3},{'$lt':7}]}";
    assertThat(matches("{'x':" + between + "}", "{'x':6}")).isTrue();
    assertThat(matches("{'x':" + between + "}", "{'x':9}")).isFalse();
    assertThat(matches("{'x':{'$not':" + between + "}}", "{'x':6}")).isFalse();
    assertThat(matches("{'x':{'$not':" + between + "}}", "{'x':9}")).isTrue();
    assertThat(matches("{'x':{'$not':" + between + "}}", "{}")).isFalse();
    assertThat(matches("{'x':{'$gt':3,'$lt':7}}", "{'x':6}")).isTrue();
    assertThat(matches("{'x':{'$gt':3,'$lt':7}}", "{'x':7}")).isFalse();
  }

  @Test
  void a_negated_condition_on_a_field_that_must_exist_holds_where_it_is_missing() {
    String selector = "{'x':{'$not':{'$exists':true,'$eq':0}}}";
    assertThat(matches(selector, "{'x':1}")).isTrue();
    assertThat(matches(selector, "{'x':0}")).isFalse();
    assertThat(matches(selector, "{}")).isTrue();
  }

  @Test
  void where_a_scalar_or_an_array_stands_in_the_way_a_field_is_not_missing() {
    String selector = "{'a.b.c':{'$exists':false}}";
    for (String missing : List.of("{}", "{'a':{}}", "{'a':{'x':1}}", "{'a':{'b':{'d':1}}}")) {
      assertThat(matches(selector, missing)).as(missing).isTrue();
    }
    for (String other :
        List.of("{'a':1}", "{'a':[]}", "{'a':[1]}", "{'a':{'b':null}}", "{'a':{'b':{'c':1}}}")) {
      assertThat(matches(selector, other)).as(other).isFalse();
    }
  }

  @Test
  void dotted_paths_name_members_and_positions() {
    String document = "{'a':[{'b':1},{'b':[7,8]}],'c':{'0':'zero'},'d.e':5,'$p':6,'f\\\\g':7}";
    assertThat(matches("{'a.0.b':1}", document)).isTrue();
    assertThat(matches("{'a':{'1':{'b.1':8}}}", document)).isTrue();
    assertThat(matches("{'a.1.b.2':{'$exists':true}}", document)).isFalse();
    assertThat(matches("{'c.0':'zero'}", document)).isTrue();
    assertThat(matches("{'d\\\\.e':5}", document)).isTrue();
    assertThat(matches("{'d.e':5}", document)).isFalse();
    assertThat(matches("{'\\\\$p':6}", document)).isTrue();
    assertThat(matches("{'f\\\\\\\\g':7}", document)).isTrue();
  }

  @Test
  void many_positions_in_a_path() {
    String path = "a" + ".0".repeat(20);
    String document = "{'a':" + "[".repeat(20) + "5" + "]".repeat(20) + "}";
    assertThat(matches("{'" + path + "':5}", document)).isTrue();
    assertThat(matches("{'" + path + ".0':5}", document)).isFalse();
    assertThat(matches("{'" + path + ".x':{'$exists':false}}", document)).isFalse();
  }

  @Test
  void strings_collate_as_unicode_has_it() {
    // From Mango's own suite: what sorts up to, and from, the letter a.
    for (String before : List.of("'a'", "' '", "'_'", "'-'", "'@'", "'1'", "'\\u0000'")) {
      assertThat(matches("{'x':{'$lte':'a'}}", "{'x':" + before + "}")).as(before).isTrue();
    }
    for (String behind : List.of("'A'", "'aa'", "'B'", "'á'", "'ß'")) {
      assertThat(matches("{'x':{'$gt':'a'}}", "{'x':" + behind + "}")).as(behind).isTrue();
    }
    assertThat(matches("{'x':{'$lt':'B'}}", "{'x':'a'}")).isTrue();
    assertThat(matches("{'x':{'$lt':'a'}}", "{'x':'B'}")).isFalse();
  }

  @Test
  void canonically_equivalent_strings_are_equal() {
    assertThat(matches("{'x':'\\u00e9'}", "{'x':'e\\u0301'}")).isTrue();
    assertThat(matches("{'x':{'$in':['z','\\u00e9']}}", "{'x':'e\\u0301'}")).isTrue();
    assertThat(matches("{'x':'\\u00e9'}", "{'x':'e'}")).isFalse();
    assertThat(matches("{'x':'a'}", "{'x':'A'}")).isFalse();
  }

  @Test
  void numbers_compare_exactly() {
    assertThat(matches("{'x':9007199254740993}", "{'x':9007199254740992}")).isFalse();
    assertThat(matches("{'x':{'$gt':9007199254740992.0}}", "{'x':9007199254740993}")).isTrue();
    assertThat(matches("{'x':1" + "0".repeat(400) + "}", "{'x':1" + "0".repeat(400) + "}"))
        .isTrue();
    assertThat(matches("{'x':{'$lt':1" + "0".repeat(400) + "}}", "{'x':1e308}")).isTrue();
    assertThat(matches("{'x':-0.0}", "{'x':0}")).isTrue();
    assertThat(matches("{'x':-0.0}", "{'x':0.0}")).isTrue();
  }

  @Test
  void a_condition_without_a_field_beside_others_is_about_the_whole_document() {
    assertThat(matches("{'$and':[{'$type':'object'}]}", "{'a':1}")).isTrue();
    assertThat(matches("{'a':1,'$gt':5}", "{'a':1}")).isTrue();
    assertThat(matches("{'$and':[{'$keyMapMatch':{'$eq':'b'}}]}", "{'a':1,'b':2}")).isTrue();
    assertThat(matches("{'$or':[{'$eq':{'a':1}},{'b':1}]}", "{'a':1}")).isTrue();
    assertThat(matches("{'$and':[5]}", "{'a':1}")).isFalse();
  }

  @Test
  void names_that_begin_like_others_are_others() {
    String document = "{'a':1,'a\\u0000':2,'a\\u0000b':3,'ab':4,'':5}";
    assertThat(matches("{'a':1}", document)).isTrue();
    assertThat(matches("{'a\\u0000':2}", document)).isTrue();
    assertThat(matches("{'a\\u0000b':3}", document)).isTrue();
    assertThat(matches("{'a.b':{'$exists':true}}", document)).isFalse();
    assertThat(matches("{'a':{'$type':'number'}}", document)).isTrue();
    assertThat(matches("{'$and':[{'$keyMapMatch':{'$eq':'a\\u0000b'}}]}", document)).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'$and':5}                  | bad_arg          | Bad argument for operator $and: 5
          {'a':{'$or':{'b':1}}}       | bad_arg          | Bad argument for operator $or: {"b":1}
          {'$nor':'x'}                | bad_arg          | Bad argument for operator $nor: "x"
          {'a':{'$not':1}}            | bad_arg          | Bad argument for operator $not: 1
          {'a':{'$in':1}}             | bad_arg          | Bad argument for operator $in: 1
          {'a':{'$nin':{}}}           | bad_arg          | Bad argument for operator $nin: {}
          {'a':{'$exists':1}}         | bad_arg          | Bad argument for operator $exists: 1
          {'a':{'$type':null}}        | bad_arg          | Bad argument for operator $type: null
          {'a':{'$mod':[1]}}          | bad_arg          | Bad argument for operator $mod: [1]
          {'a':{'$mod':[2.0,1]}}      | bad_arg          | Bad argument for operator $mod: [2.0,1]
          {'a':{'$mod':[0,1]}}        | bad_arg          | Bad argument for operator $mod: [0,1]
          {'a':{'$mod':5}}            | bad_arg          | Bad argument for operator $mod: 5
          {'a':{'$regex':'('}}        | bad_arg          | Bad argument for operator $regex: "("
          {'a':{'$regex':5}}          | invalid_operator | Invalid operator: $regex
          {'a':{'$all':1}}            | bad_arg          | Bad argument for operator $all: 1
          {'a':{'$elemMatch':1}}      | bad_arg          | Bad argument for operator $elemMatch: 1
          {'a':{'$allMatch':[]}}      | bad_arg          | Bad argument for operator $allMatch: []
          {'a':{'$keyMapMatch':1}}    | bad_arg          | Bad argument for operator $keyMapMatch: 1
          {'a':{'$size':-1}}          | bad_arg          | Bad argument for operator $size: -1
          {'a':{'$size':1.0}}         | bad_arg          | Bad argument for operator $size: 1.0
          {'a':{'$beginsWith':1}}     | invalid_operator | Invalid operator: $beginsWith
          {'a':{'$foo':1}}            | invalid_operator | Invalid operator: $foo
          {'$foo':1}                  | invalid_operator | Invalid operator: $foo
          {'a':{'$where':1}}          | not_supported    | Unsupported operator: $where
          {'a':{'$near':1}}           | not_supported    | Unsupported operator: $near
          {'$text':'x'}               | not_supported    | Unsupported operator: $text
          {'$gt':5}                   | invalid_selector | One or more conditions is missing a field name.
          {'$not':{'$gt':5}}          | invalid_selector | One or more conditions is missing a field name.
          {'$exists':false}           | invalid_selector | One or more conditions is missing a field name.
          {'$elemMatch':{'a':1}}      | invalid_selector | One or more conditions is missing a field name.
          {'':1}                      | invalid_selector | One or more conditions is missing a field name.
          {'a..b':1}                  | invalid_field_name | Invalid field name: a..b
          {'a':{'':1}}                | invalid_field_name | Invalid field name:
          [1]                         | invalid_selector_json | Selector must be a JSON object, not: [1]
          """)
  void what_is_wrong_is_named(String selector, String error, String reason) {
    LectusException thrown = failure(selector);
    assertThat(thrown.error()).isInstanceOf(LectusError.BadRequest.class);
    assertThat(thrown.error().error()).isEqualTo(error);
    assertThat(thrown.error().reason().strip()).isEqualTo(reason);
  }

  @Test
  void a_selector_is_as_deep_as_its_json_may_be() {
    assertThat(Documents.matches(nested("{'$not':", 498, "{'a':1}"), "{'a':1}")).isTrue();
    assertThat(Documents.matches(nested("{'$not':", 497, "{'a':1}"), "{'a':1}")).isFalse();
    assertThat(Documents.matches(nested("{'$and':[", 249, "{'a':1}", "]}"), "{'a':1}")).isTrue();
    assertThat(Documents.matches(nested("{'a':", 499, "{}"), "{'a':1}")).isFalse();
    assertThat(Documents.matches(nested("{'a':{'$elemMatch':", 249, "{}", "}}"), "{'a':[1]}"))
        .isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{'$not':", "{'$and':[", "{'a':", "{'a':{'$elemMatch':", "{'$or':[{'a':"})
  void a_deeper_one_is_a_bad_request(String level) {
    for (int depth : new int[] {501, 5_000, 100_000}) {
      assertThat(failure(level.repeat(depth)).error().reason()).contains("nested deeper than 500");
    }
  }

  @Test
  void groups_in_regular_expressions_are_bounded_in_depth() {
    String deepest = "(".repeat(100) + "a" + ")".repeat(100);
    assertThat(Documents.matches(regex(deepest), "{'a':'a'}")).isTrue();
    assertThat(failure(regex("(" + deepest + ")")).error().error()).isEqualTo("bad_arg");
    assertThat(failure(regex("(".repeat(500))).error().error()).isEqualTo("bad_arg");
  }

  @Test
  void a_regular_expression_takes_linear_time() {
    String text = "a".repeat(50_000);
    assertThat(Documents.matches(regex("^(a+)+$"), "{'a':'" + text + "b'}")).isFalse();
    assertThat(Documents.matches(regex("^(a|a)*$"), "{'a':'" + text + "'}")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"(?!a)", "(?<=a)b", "(a)\\\\1", "a++", "(?>a)"})
  void what_only_backtracking_matchers_know_is_refused(String expression) {
    assertThat(failure(regex(expression)).error().error()).isEqualTo("bad_arg");
  }

  private static String regex(String expression) {
    return "{'a':{'$regex':'" + expression + "'}}";
  }

  private static String nested(String level, int depth, String innermost) {
    return nested(level, depth, innermost, "}");
  }

  private static String nested(String level, int depth, String innermost, String end) {
    return level.repeat(depth) + innermost + end.repeat(depth);
  }

  private static LectusException failure(String selector) {
    LectusException[] thrown = new LectusException[1];
    assertThatThrownBy(() -> Documents.selector(selector))
        .isInstanceOfSatisfying(LectusException.class, it -> thrown[0] = it);
    return thrown[0];
  }

  private static NormalSelector fields(String selector) {
    return NormalSelector.of((JsonObject) Documents.json(selector));
  }

  private static String numbers(int count, String form) {
    return IntStream.range(0, count)
        .mapToObj(i -> form.replace("#", Integer.toString(i)))
        .collect(Collectors.joining(","));
  }

  @Test
  void an_alternative_costs_its_own_conditions_and_not_those_of_all() {
    String others = numbers(5_000, "{'f#':{'$gt':#}}");
    String selector = "{'$and':[{'a':{'$in':[" + numbers(999, "#") + "]}}," + others + "]}";

    List<Map<String, Optional<ValueRange>>> alternatives =
        fields(selector).alternatives(List.of("a"));

    assertThat(alternatives).hasSize(1_000).allSatisfy(it -> assertThat(it).containsOnlyKeys("a"));
  }

  @Test
  void fields_within_a_field_with_a_long_name_have_a_limit() {
    String most = "{'" + "x".repeat(9_998) + "':{" + numbers(99, "'#':1") + "}}";
    String more = "{'" + "x".repeat(9_998) + "':{" + numbers(101, "'#':1") + "}}";
    String huge = "{'" + "x".repeat(900_000) + "':{" + numbers(5_000, "'#':1") + "}}";

    assertThat(fields(most).all()).hasSize(99);
    for (String refused : List.of(more, huge)) {
      assertThatThrownBy(() -> fields(refused))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("1000000 characters in its fields' paths");
    }
  }

  @Test
  void an_alternative_has_what_the_selector_says_of_further_columns() {
    String selector = "{'b':7,'c':8,'$or':[{'a':1},{'a':2,'b':{'$gt':7}},{'a':3,'b':{'$gt':6}}]}";

    List<Map<String, Optional<ValueRange>>> alternatives =
        fields(selector).alternatives(List.of("a", "b"));

    Optional<ValueRange> seven = Optional.of(ValueRange.only(Documents.json("7")));
    assertThat(alternatives).hasSize(3);
    assertThat(alternatives.get(0)).containsEntry("b", seven).containsOnlyKeys("a", "b");
    assertThat(alternatives.get(1)).containsExactly(Map.entry("b", Optional.empty()));
    assertThat(alternatives.get(2)).containsEntry("b", seven);
  }

  @Test
  void a_condition_on_a_scalar_reads_one_leaf() {
    assertThat(reads("{'type':'order'}")).containsExactly("LEAF (\"type\")");
    assertThat(reads("{'a.b':{'$lt':5}}")).containsExactly("LEAF (\"a\", \"b\")");
    assertThat(reads("{'a':{'$regex':'x'},'b':{'$mod':[2,1]}}"))
        .containsExactly("LEAF (\"a\")", "LEAF (\"b\")");
  }

  @Test
  void what_depends_on_the_type_reads_the_first_leaf_below() {
    assertThat(reads("{'a':{'$ne':5}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$gt':5}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$exists':true}}")).containsExactly("TYPE (\"a\")");
    assertThat(reads("{'a':{'$not':{'$regex':'x'}}}")).containsExactly("FIRST (\"a\")");
  }

  @Test
  void of_a_long_string_the_type_reads_no_more_than_its_beginning() {
    assertThat(reads("{'a':{'$type':'string'},'b':{'$exists':true}}"))
        .containsExactly("TYPE (\"a\")", "TYPE (\"b\")");
    assertThat(reads("{'a':{'$type':'string','$regex':'x'}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$type':'string','$ne':'x'}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$type':'array','$size':1}}")).containsExactly("ALL (\"a\")");
  }

  @Test
  void a_missing_field_is_sought_with_what_is_above_it() {
    assertThat(reads("{'a.b':{'$exists':false}}"))
        .containsExactly("TYPE (\"a\")", "TYPE (\"a\", \"b\")");
  }

  @Test
  void containers_are_read_whole_and_once() {
    assertThat(reads("{'a':{'$size':2},'a.b':1,'ab':1}"))
        .containsExactly("ALL (\"a\")", "LEAF (\"ab\")");
    assertThat(reads("{'a':{'$in':[1]}}")).containsExactly("ALL (\"a\")");
    assertThat(reads("{'a':[]}")).containsExactly("LEAF (\"a\")");
    assertThat(reads("{'a':[1]}")).containsExactly("ALL (\"a\")");
  }

  @Test
  void a_number_is_a_member_or_a_position() {
    assertThat(reads("{'a.0':1}")).containsExactly("LEAF (\"a\", \"0\")", "LEAF (\"a\", 0)");
  }

  @Test
  void only_a_condition_without_a_field_reads_the_whole_document() {
    assertThat(reads("{'$and':[{'$type':'object'},{'a':1}]}")).containsExactly("ALL ()");
    assertThat(reads("{}")).isEmpty();
  }

  @Test
  void many_fields_are_read_as_the_whole_document() {
    String most =
        IntStream.range(0, SelectorNeeds.MAX_READS)
            .mapToObj(i -> "'f" + i + "':1")
            .collect(Collectors.joining(",", "{", "}"));
    assertThat(reads(most)).hasSize(SelectorNeeds.MAX_READS).allMatch(it -> it.startsWith("LEAF"));
    assertThat(reads(most.replace("}", ",'_id':'a'}"))).containsExactly("ALL ()");
  }

  private static List<String> reads(String selector) {
    return Documents.selector(selector).reads().stream()
        .map(read -> read.extent() + " " + Tuple.fromBytes(read.path()))
        .toList();
  }
}
