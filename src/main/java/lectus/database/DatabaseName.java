package lectus.database;

import java.util.regex.Pattern;
import lectus.error.LectusException;

/**
 * A name that CouchDB accepts: a lower-case letter, then lower-case letters, digits and {@code
 * _$()+-/}; at most 238 bytes. {@code _users}, {@code _replicator} and {@code _global_changes} are
 * accepted as well.
 */
public record DatabaseName(String text) implements Comparable<DatabaseName> {
  /** CouchDB's own limit, which leaves room for a file suffix. */
  public static final int MAX_LENGTH = 238;

  private static final Pattern LEGAL =
      Pattern.compile("[a-z][a-z0-9_$()+/-]*|_users|_replicator|_global_changes");

  /**
   * @throws LectusException {@code illegal_database_name}, {@code database_name_too_long}
   */
  public static DatabaseName of(String text) {
    if (text.length() > MAX_LENGTH && LEGAL.matcher(text).matches()) {
      throw LectusException.badRequest(
          "database_name_too_long", "At least one path segment of `" + text + "` is too long.");
    }
    if (!isLegal(text)) {
      throw LectusException.badRequest(
          "illegal_database_name",
          "Name: '"
              + text
              + "'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $,"
              + " (, ), +, -, and / are allowed. Must begin with a letter.");
    }
    return new DatabaseName(text);
  }

  public static boolean isLegal(String text) {
    return text.length() <= MAX_LENGTH && LEGAL.matcher(text).matches();
  }

  /** Whether it is one of CouchDB's own databases. */
  public boolean isSystem() {
    return text.startsWith("_");
  }

  /**
   * Whether its documents may be users or describe replications: those of {@code _users} and {@code
   * _replicator}, and of databases whose names end so.
   */
  public boolean mayHaveSystemDocuments() {
    return text.endsWith("_users") || text.endsWith("_replicator");
  }

  @Override
  public int compareTo(DatabaseName other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
