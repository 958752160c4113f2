package lectus.http.socket;

import java.util.List;
import lectus.error.LectusException;
import lectus.feed.many.DatabaseSet;

/**
 * The databases of a subscription, as its client wrote them: names and patterns. A long list takes
 * too long to be looked through on an event loop, so that is left to the thread that opens the
 * subscription.
 */
public record WrittenDatabases(List<String> namesAndPatterns) {
  static final int MOST_NAMES = 10_000;

  /** Every database that is written is compared with each of them. */
  static final int MOST_PATTERNS = 1_000;

  /** Beside its text: its objects, and entries in the maps that find who listens to a database. */
  private static final long BYTES_EACH = 400;

  /**
   * @throws LectusException {@code bad_request}: more of them than a subscription may have
   */
  public WrittenDatabases {
    namesAndPatterns = List.copyOf(namesAndPatterns);
    long patterns = namesAndPatterns.stream().filter(DatabaseSet::isPattern).count();
    if (patterns > MOST_PATTERNS) {
      throw LectusException.badRequest("`db` may have " + MOST_PATTERNS + " patterns.");
    }
    if (namesAndPatterns.size() - patterns > MOST_NAMES) {
      throw LectusException.badRequest("`db` may have " + MOST_NAMES + " names.");
    }
  }

  /**
   * Not for an event loop.
   *
   * @throws LectusException {@code illegal_database_name}
   */
  public DatabaseSet compile() {
    return DatabaseSet.of(namesAndPatterns);
  }

  /** What they take in memory, roughly, in bytes, compiled or not. */
  long memory() {
    return namesAndPatterns.stream().mapToLong(text -> BYTES_EACH + text.length()).sum();
  }
}
