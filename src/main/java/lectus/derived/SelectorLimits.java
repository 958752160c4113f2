package lectus.derived;

import lectus.json.JsonValue;

/**
 * The limits on a selector. Each is far above what people write by hand, and low enough that a
 * selector compiles in milliseconds and takes a few megabytes at most. Nesting is bounded by {@link
 * JsonValue#DEEPEST}, the names of a path by {@link lectus.json.FieldPath#MAX_NAMES}, work on one
 * document by {@link MatchBudget#MAX_WORK}.
 */
public final class SelectorLimits {
  /**
   * Maximum number of members and elements, including operators and their arguments: {@code
   * {"a":{"$in":[1,2]}}}.
   */
  public static final int MAX_VALUES = 20_000;

  /** Maximum length of names and strings together, in UTF-16 units. */
  public static final int MAX_CHARACTERS = 1_000_000;

  /** Maximum number of instructions of all regular expressions together, as an upper estimate. */
  public static final int MAX_INSTRUCTIONS = 2_000;

  private SelectorLimits() {}

  /**
   * Checks a selector before anything is compiled.
   *
   * @throws lectus.error.LectusException 400 {@code invalid_selector} that names the limit
   */
  static void check(JsonValue selector) {
    FilterSize size = FilterSize.of(selector);
    check(size.values(), MAX_VALUES, "members and elements");
    check(size.characters(), MAX_CHARACTERS, "characters");
    check(size.instructions(), MAX_INSTRUCTIONS, "instructions of regular expressions");
  }

  /** Checks the paths of all fields of a selector, where a field within fields repeats them. */
  static void checkPaths(long characters) {
    check(characters, MAX_CHARACTERS, "characters in its fields' paths");
  }

  private static void check(long size, int most, String what) {
    if (size > most) {
      throw SelectorErrors.tooLarge(most + " " + what);
    }
  }
}
