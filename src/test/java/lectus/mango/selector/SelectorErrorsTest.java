package lectus.mango.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.error.LectusError;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The error names and sentences of CouchDB's {@code mango_error}. */
final class SelectorErrorsTest {

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
}
