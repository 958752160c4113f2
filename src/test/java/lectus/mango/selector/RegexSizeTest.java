package lectus.mango.selector;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The estimate is an upper bound, and not far from the truth. */
@Timeout(60)
final class RegexSizeTest {
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
