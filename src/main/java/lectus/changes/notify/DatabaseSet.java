package lectus.changes.notify;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.database.DatabaseName;
import lectus.error.LectusException;

/**
 * The databases that a reader wants in one order: by name, and by patterns such as {@code user-*}
 * (see {@link DatabasePattern}). Databases that do not exist yet belong to it from their creation.
 */
public record DatabaseSet(Set<DatabaseName> names, Set<DatabasePattern> patterns) {
  /**
   * @throws LectusException {@code illegal_database_name} if no database could have such a name
   */
  public static DatabaseSet of(List<String> namesAndPatterns) {
    Set<DatabaseName> names = new LinkedHashSet<>();
    Set<DatabasePattern> patterns = new LinkedHashSet<>();
    for (String text : namesAndPatterns) {
      if (DatabasePattern.isPattern(text)) {
        patterns.add(DatabasePattern.of(text));
      } else {
        names.add(DatabaseName.of(text));
      }
    }
    return new DatabaseSet(names, patterns);
  }

  public static boolean isPattern(String text) {
    return DatabasePattern.isPattern(text);
  }

  public boolean contains(DatabaseName name) {
    return names.contains(name) || patterns.stream().anyMatch(pattern -> pattern.matches(name));
  }

  /** Returns the same set for {@link lectus.changes.page.DatabaseNotifications}. */
  WantedDatabases wanted() {
    Set<String> heads =
        patterns.stream().map(DatabasePattern::head).collect(Collectors.toUnmodifiableSet());
    return new WantedDatabases(names, heads, this::contains);
  }

  /**
   * A pattern of database names: {@code *} stands for any run of characters, including an empty one
   * and slashes; every other character stands for itself. No name contains a {@code *}, so it needs
   * no escape.
   *
   * @param parts at least two: the text before the first star, between stars, and after the last
   */
  record DatabasePattern(List<String> parts) {
    private static final Pattern LEGAL = Pattern.compile("[a-z0-9_$()+/*-]*");

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
    public String toString() {
      return String.join("*", parts);
    }
  }
}
