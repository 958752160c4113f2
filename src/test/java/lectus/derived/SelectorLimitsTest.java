package lectus.derived;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.derived.FilterSize.RegexSize;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.LeafList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A selector costs little to compile, and a document little to match, whoever wrote them. */
final class SelectorLimitsTest {
  /** The selector, the value of the field, and the list. */
  private static final int AROUND_A_LIST = 3;

  private static final String[] ATOMS = {
    "a",
    "b",
    ".",
    "[a-z]",
    "[^0-9a-f]",
    "\\d",
    "\\pL",
    "^",
    "$",
    "\\b",
    "\\x41",
    "xyz",
    "\\Qa.b\\E",
    "(?i)k",
    "é",
    "\ud83d\ude00"
  };
  private static final String[] REPETITIONS = {
    "*", "+", "?", "*?", "+?", "{3}", "{2,}", "{0,4}", "{1,3}?", "{0}", "{5,7}", "{", "{,3}"
  };

  private static String refusal(String selector) {
    AtomicReference<String> reason = new AtomicReference<>();
    assertThatThrownBy(() -> Documents.selector(selector))
        .isInstanceOfSatisfying(
            LectusException.class,
            it -> {
              assertThat(it.error()).isInstanceOf(LectusError.BadRequest.class);
              reason.set(it.error().reason());
            });
    return reason.get();
  }

  private static void compiles(String selector) {
    assertThat(Documents.selector(selector)).isNotNull();
  }

  private static String list(String operator, int elements) {
    return IntStream.range(0, elements)
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(",", "{'a':{'" + operator + "':[", "]}}"));
  }

  private static String regex(String expression) {
    return "{'a':{'$regex':'" + expression + "'}}";
  }

  @ParameterizedTest
  @ValueSource(strings = {"$in", "$nin", "$all", "$eq", "$or"})
  void members_and_elements(String operator) {
    int most = SelectorLimits.MAX_VALUES - AROUND_A_LIST;
    compiles(list(operator, most));
    assertThat(refusal(list(operator, most + 1))).contains("20000 members and elements");
  }

  @Test
  void characters_of_names_and_strings() {
    String most = "x".repeat(SelectorLimits.MAX_CHARACTERS - 1);
    compiles("{'a':'" + most + "'}");
    assertThat(refusal("{'a':'" + most + "x'}")).contains("1000000 characters");
    assertThat(refusal("{'" + most + "':'xx'}")).contains("1000000 characters");
  }

  @Test
  void names_in_a_path() {
    String most = "n.".repeat(FieldPath.MAX_NAMES - 1) + "n";
    compiles("{'" + most + "':{'$exists':false}}");
    assertThat(refusal("{'" + most + ".n':1}")).contains("500 parts");
    assertThat(refusal("{'" + most + "':{'n':1}}")).contains("500 names in a path");
    assertThat(refusal("{'" + "n.".repeat(100_000) + "n':{'$exists':false}}")).contains("500");
  }

  @Test
  void instructions_of_one_regular_expression_and_of_all() {
    int most = SelectorLimits.MAX_INSTRUCTIONS - 2;
    assertThat(Documents.matches(regex("a".repeat(most)), "{'a':'" + "a".repeat(most) + "'}"))
        .isTrue();
    assertThat(refusal(regex("a".repeat(most + 1)))).contains("2000 instructions");
    String half = regex("a".repeat(SelectorLimits.MAX_INSTRUCTIONS / 2 - 2));
    compiles("{'$or':[" + half + "," + half + "]}");
    assertThat(refusal("{'$or':[" + half + "," + half + "," + regex("a") + "]}"))
        .contains("2000 instructions");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(a{999}){9}",
        "(a?){999}b",
        "((a{1000}){1000}){1000}",
        "(a{100}){100}",
        "(\\\\pL{999}b){999}",
        "(((((((((a?){2}){2}){2}){2}){2}){2}){2}){2}){2}"
      })
  void small_expressions_with_large_programs(String expression) {
    assertThat(refusal(regex(expression))).contains("2000 instructions");
  }

  @Test
  void thousands_of_expressions_in_one_selector() {
    String many =
        IntStream.range(0, 5_000)
            .mapToObj(i -> regex("x{9}"))
            .collect(Collectors.joining(",", "{'$or':[", "]}"));
    assertThat(refusal(many)).contains("2000 instructions");
  }

  @Test
  void fifty_thousand_conditions() {
    String many =
        IntStream.range(0, 50_000)
            .mapToObj(i -> "{'f" + i + "':{'$exists':false}}")
            .collect(Collectors.joining(",", "{'$or':[", "]}"));
    assertThat(refusal(many)).contains("members and elements");
  }

  /** Long paths, each with all its ancestors, and with numbers that may be positions. */
  @Test
  void many_long_paths_are_read_as_the_whole_document() {
    String path = "n.1.2.3.4.5.6." + "n.".repeat(300);
    String many =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "'" + path + "m" + i + "':{'$exists':false}")
            .collect(Collectors.joining(",", "{", "}"));
    Selector selector = Documents.selector(many);
    assertThat(selector.reads()).hasSize(1);
    assertThat(Documents.matches(selector, "{'n':1}")).isFalse();
    assertThat(Documents.matches(selector, "{}")).isTrue();
  }

  /** The matcher recurses from one optional part to the next. */
  @Test
  void the_largest_programs_need_little_of_a_stack() throws InterruptedException {
    String[] expressions = {
      "(a?){285}b",
      "(|a){221}b",
      "a?".repeat(600) + "b",
      "(a*){280}b",
      "(".repeat(99) + "a" + ")".repeat(99)
    };
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread small =
        new Thread(
            null,
            () -> {
              for (String expression : expressions) {
                assertThat(Documents.matches(regex(expression), "{'a':'" + "a".repeat(300) + "'}"))
                    .isEqualTo(!expression.endsWith("b"));
              }
              assertThat(Documents.matches(regex(growing(55)), "{'a':'aaa'}")).isTrue();
            },
            "small stack",
            512 << 10);
    small.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
    small.start();
    small.join();
    assertThat(failure.get()).isNull();
  }

  /** Each alternative begins with the previous one, so the parser nests them. */
  private static String growing(int alternatives) {
    return IntStream.range(1, alternatives).mapToObj("a"::repeat).collect(Collectors.joining("|"));
  }

  @Test
  void a_text_times_a_program() {
    Selector selector = Documents.selector(regex("b{250}"));
    assertThat(Documents.matches(selector, "{'a':'" + "a".repeat(150_000) + "'}")).isFalse();
    assertThatThrownBy(() -> Documents.matches(selector, "{'a':'" + "a".repeat(250_000) + "'}"))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("too much work for the document `d`");
  }

  /** What a matcher does not reach costs nothing. */
  @Test
  void the_end_of_a_text_is_not_paid_for() {
    Selector selector = Documents.selector(regex("^a{250}"));
    assertThat(Documents.matches(selector, "{'a':'" + "a".repeat(4_000_000) + "'}")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"$all", "$elemMatch"})
  void an_array_times_conditions(String operator) {
    int conditions = 1_000;
    Selector selector =
        Documents.selector(
            operator.equals("$all")
                ? list("$all", conditions)
                : "{'a':{'$elemMatch':" + any(conditions) + "}}");
    assertThat(Documents.matches(selector, array(10_000, conditions)))
        .isEqualTo(operator.equals("$all"));
    assertThatThrownBy(() -> Documents.matches(selector, array(150_000, conditions)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("too much work");
  }

  private static String any(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "{'$gt':" + (1_000_000 + i) + "}")
        .collect(Collectors.joining(",", "{'$or':[", "]}"));
  }

  private static String array(int size, int different) {
    return IntStream.range(0, size)
        .mapToObj(i -> Integer.toString(i % different))
        .collect(Collectors.joining(",", "{'a':[", "]}"));
  }

  /** Returns what matching a document costs, whose field is equal to the last of so many values. */
  private static long workOf(int values, String operator, String clause) {
    String selector =
        IntStream.range(0, values)
            .mapToObj(clause::formatted)
            .collect(Collectors.joining(",", "{'" + operator + "':[", "]}"));
    MatchBudget budget = new MatchBudget("d", MatchBudget.MAX_WORK);
    boolean isMatch =
        Documents.selector(selector)
            .condition()
            .holds(LeafList.of(Documents.explode("{'a':" + (values - 1) + "}")).root(), budget);
    assertThat(isMatch).isEqualTo(operator.equals("$or"));
    return MatchBudget.MAX_WORK - budget.left();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {"$or; {'a':%d}", "$nor; {'a':%d}", "$and; {'a':{'$ne':%d}}"})
  void many_equalities_of_a_field_are_one_search(String operator, String clause) {
    assertThat(workOf(4_000, operator, clause)).isLessThan(2 * workOf(1_000, operator, clause));
    assertThat(workOf(4, operator, clause)).isLessThanOrEqualTo(2 * workOf(3, operator, clause));
  }

  @Test
  void an_array_is_equal_to_one_of_many_values_only_as_a_whole() {
    String many = "{'$or':[{'b':7},{'b':8},{'b':9},{'b':10},{'b':[8,9]}%s]}";
    assertThat(Documents.matches(many.formatted(""), "{'b':[7]}")).isFalse();
    assertThat(Documents.matches(many.formatted(""), "{'b':[8,9]}")).isTrue();
    assertThat(Documents.matches(many.formatted(",{'b':[7]}"), "{'b':[7]}")).isTrue();
    String none = "{'$and':[{'b':{'$ne':7}},{'b':{'$ne':8}},{'b':{'$ne':9}},{'b':{'$ne':[7]}}]}";
    assertThat(Documents.matches(none, "{'b':[7]}")).isFalse();
    assertThat(Documents.matches(none, "{'b':[8]}")).isTrue();
    assertThat(Documents.matches(none, "{'b':{'c':1}}")).isTrue();
    assertThat(Documents.matches(none, "{}")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "(a{9}){9}",
        "((a{9}){9}){9}",
        "(a?){99}b",
        "(|a){20}",
        "^([0-9a-f]*)*$",
        "a{0}",
        "(?:a|b{3}|c*){7}",
        "a|ab|abc|abcd",
        "x{2}y{3,}z{4,9}",
        "(a*)+",
        "(a+)*b?",
        "\\Qa{9}\\E{2}",
        "[]a]{3}",
        "[^]a]{3}",
        "[[:alpha:]]{5}",
        "(?P<n>a){4}"
      })
  void no_program_is_larger(String expression) {
    assertThat(RegexSize.of(expression).instructions())
        .isBetween((long) Pattern.compile(expression).programSize(), 5_000L);
  }

  @Test
  void no_random_program_is_larger() {
    int compiled = 0;
    for (int seed = 0; seed < 5_000; seed++) {
      String expression = random(new Random(seed), 4);
      long size = RegexSize.of(expression).instructions();
      if (size <= SelectorLimits.MAX_INSTRUCTIONS && isValid(expression)) {
        assertThat((long) Pattern.compile(expression).programSize())
            .as(expression)
            .isLessThanOrEqualTo(size);
        compiled++;
      }
    }
    assertThat(compiled).isGreaterThan(1_000);
  }

  private static boolean isValid(String expression) {
    try {
      Pattern.compile(expression);
      return true;
    } catch (PatternSyntaxException e) {
      return false;
    }
  }

  private static String random(Random random, int depth) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(4); i >= 0; i--) {
      boolean group = depth > 0 && random.nextInt(3) == 0;
      text.append(
          group
              ? "(" + random(random, depth - 1) + "|" + random(random, depth - 1) + ")"
              : ATOMS[random.nextInt(ATOMS.length)]);
      if (random.nextInt(3) == 0) {
        text.append(REPETITIONS[random.nextInt(REPETITIONS.length)]);
      }
    }
    return text.toString();
  }

  @Test
  void ordinary_expressions_are_far_below_the_limit() {
    for (String expression :
        new String[] {
          "^[0-9a-f]{32}$",
          "^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$",
          "^\\p{L}{1,200}$",
          "(?i)^(mon|tues|wednes|thurs|fri|satur|sun)day\\b.*"
        }) {
      assertThat(RegexSize.of(expression).instructions())
          .as(expression)
          .isLessThan(SelectorLimits.MAX_INSTRUCTIONS / 2);
    }
  }

  /** A megabyte of each, in one pass. */
  @ParameterizedTest
  @ValueSource(strings = {"{", "(", "[", "\\Q", "{1", "\\", ")", "a{9}", "*", "[^", "{999999999}"})
  void the_estimate_takes_linear_time(String part) {
    String expression = part.repeat(1_000_000 / part.length());
    assertThat(RegexSize.of(expression).instructions()).isPositive();
  }
}
