package lectus.http.websocket;

import java.util.List;
import lectus.changes.multi.DatabaseSet;
import lectus.error.LectusException;

/**
 * The databases of a subscription, as its client wrote them: names and patterns. Compiling a long
 * list takes too long for an event loop, so the thread that opens the subscription does it.
 */
public record WrittenDatabases(List<String> namesAndPatterns) {
  static final int MAX_NAMES = 10_000;

  /** The most patterns; every database that is written is compared with each of them. */
  static final int MAX_PATTERNS = 1_000;

  /**
   * Bytes for each name beside its text: its objects, and entries in the maps that find a
   * database's listeners.
   */
  private static final long BYTES_EACH = 400;

  /**
   * @throws LectusException {@code bad_request}: more than a subscription may have
   */
  public WrittenDatabases {
    namesAndPatterns = List.copyOf(namesAndPatterns);
    long patterns = namesAndPatterns.stream().filter(DatabaseSet::isPattern).count();
    if (patterns > MAX_PATTERNS) {
      throw LectusException.badRequest("`db` may have " + MAX_PATTERNS + " patterns.");
    }
    if (namesAndPatterns.size() - patterns > MAX_NAMES) {
      throw LectusException.badRequest("`db` may have " + MAX_NAMES + " names.");
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

  /** Returns the approximate memory, in bytes, compiled or not. */
  long memory() {
    return namesAndPatterns.stream().mapToLong(text -> BYTES_EACH + text.length()).sum();
  }
}
