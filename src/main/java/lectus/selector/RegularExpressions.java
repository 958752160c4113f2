package lectus.selector;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonString;

/**
 * Clients' regular expressions. RE2 matches in time linear in the string, times the size of the
 * compiled expression. So this size is bounded before compilation ({@link SelectorLimits}): counted
 * repetitions copy what they repeat.
 */
final class RegularExpressions {
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
