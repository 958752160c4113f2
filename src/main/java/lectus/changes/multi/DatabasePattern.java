package lectus.changes.multi;

import java.util.List;
import java.util.regex.Pattern;
import lectus.database.DatabaseName;
import lectus.error.LectusException;

/**
 * A pattern of database names: {@code *} stands for any run of characters, including an empty one
 * and slashes; every other character stands for itself. No name contains a {@code *}, so it needs
 * no escape.
 */
final class DatabasePattern {
  private static final Pattern LEGAL = Pattern.compile("[a-z0-9_$()+/*-]*");

  private final List<String> parts;

  /** At least two: the text before the first star, between stars, and after the last star. */
  private DatabasePattern(List<String> parts) {
    this.parts = parts;
  }

  static boolean isPattern(String text) {
    return text.indexOf('*') >= 0;
  }

  /**
   * @throws LectusException {@code illegal_database_name} if no name could match
   */
  static DatabasePattern of(String text) {
    if (!LEGAL.matcher(text).matches()) {
      throw LectusException.badRequest(
          "illegal_database_name", "Pattern: '" + text + "'. No database can have such a name.");
    }
    return new DatabasePattern(List.of(text.split("\\*", -1)));
  }

  /** Returns the prefix of every matching name. */
  String head() {
    return parts.get(0);
  }

  boolean matches(DatabaseName name) {
    String text = name.text();
    String tail = parts.get(parts.size() - 1);
    int end = text.length() - tail.length();
    if (!text.startsWith(head()) || !text.endsWith(tail) || end < head().length()) {
      return false;
    }
    // Matching each part as far left as possible leaves the most room for the following parts.
    int at = head().length();
    for (String part : parts.subList(1, parts.size() - 1)) {
      int found = text.indexOf(part, at);
      if (found < 0 || found + part.length() > end) {
        return false;
      }
      at = found + part.length();
    }
    return true;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DatabasePattern that && parts.equals(that.parts);
  }

  @Override
  public int hashCode() {
    return parts.hashCode();
  }

  @Override
  public String toString() {
    return String.join("*", parts);
  }
}
