package lectus.selector;

import lectus.json.JsonValue;

/**
 * What a selector may consist of. Each limit is far above what anybody writes by hand, and low
 * enough that compiling a selector takes milliseconds and holding it a few megabytes at most.
 * Nesting is bounded by {@link JsonValue#DEEPEST}, the names of a path by {@link
 * lectus.json.FieldPath#MOST_NAMES}, work on one document by {@link MatchBudget#MOST_WORK}.
 */
public final class SelectorLimits {
  /**
   * Members and elements, operators and their arguments among them: {@code {"a":{"$in":[1,2]}}}.
   */
  public static final int MOST_VALUES = 20_000;

  /** Of names and strings together, in UTF-16 units. */
  public static final int MOST_CHARACTERS = 1_000_000;

  /** Instructions of all regular expressions together, estimated from above. */
  public static final int MOST_INSTRUCTIONS = 2_000;

  private SelectorLimits() {}

  /**
   * Looks at a selector before anything is made of it.
   *
   * @throws lectus.error.LectusException 400 {@code invalid_selector} that names the limit
   */
  static void check(JsonValue selector) {
    FilterSize size = FilterSize.of(selector);
    check(size.values(), MOST_VALUES, "members and elements");
    check(size.characters(), MOST_CHARACTERS, "characters");
    check(size.instructions(), MOST_INSTRUCTIONS, "instructions of regular expressions");
  }

  private static void check(long size, int most, String what) {
    if (size > most) {
      throw SelectorErrors.tooLarge(most + " " + what);
    }
  }
}
