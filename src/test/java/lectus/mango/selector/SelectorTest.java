package lectus.mango.selector;

import static lectus.mango.selector.Documents.matches;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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
}
