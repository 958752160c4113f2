package lectus.changes.multi;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.changes.page.WantedDatabases;
import lectus.database.DatabaseName;
import lectus.error.LectusException;

/**
 * The databases that a reader wants in one order: by name, and by patterns such as {@code user-*}
 * (see {@link DatabasePattern}). Databases that do not exist yet belong to it from their creation.
 */
public final class DatabaseSet {
  private final Set<DatabaseName> names;
  private final Set<DatabasePattern> patterns;

  private DatabaseSet(Set<DatabaseName> names, Set<DatabasePattern> patterns) {
    this.names = names;
    this.patterns = patterns;
  }

  /**
   * @param namesAndPatterns a text with a {@code *} is a pattern
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

  /** Whether it is a pattern, not the name of one database. */
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

  List<DatabaseName> names() {
    return new ArrayList<>(names);
  }

  List<DatabasePattern> patterns() {
    return new ArrayList<>(patterns);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DatabaseSet that
        && names.equals(that.names)
        && patterns.equals(that.patterns);
  }

  @Override
  public int hashCode() {
    return 31 * names.hashCode() + patterns.hashCode();
  }
}
