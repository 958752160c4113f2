package lectus.feed.many;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.access.SecurityObject;
import lectus.access.UserContext;
import lectus.database.DatabaseName;
import lectus.feed.FeedRights;

/**
 * Which databases a reader's user sees: those that the user may read, as of each page's read
 * version. The others seem not to exist. Once a database is deleted, nothing says who might read
 * it, so its deletion is told only to users who were shown rows of it. Thread-safe.
 */
final class VisibleDatabases {
  /** Bytes of a name beside its text: its objects, and its place in the set. */
  private static final int BYTES_EACH = 100;

  private final UserContext user;
  private final Set<DatabaseName> shown = ConcurrentHashMap.newKeySet();
  private final HeldBytes held;

  VisibleDatabases(UserContext user, CandidateMemory memory) {
    this.user = user;
    this.held = new HeldBytes(this, memory);
  }

  boolean isOfEverything() {
    return user.isServerAdmin();
  }

  /** Whether the user is one of those who may read a database. */
  boolean isAmong(SecurityObject readers) {
    return FeedRights.includes(readers, user);
  }

  /** Notes who may read databases at a page's read version. */
  void look(Map<DatabaseName, SecurityObject> readers) {
    if (!isOfEverything() && !shown.isEmpty()) {
      readers.forEach(
          (name, those) -> {
            if (!isAmong(those)) {
              forget(name);
            }
          });
    }
  }

  private void forget(DatabaseName name) {
    if (shown.remove(name)) {
      held.add(-bytes(name));
    }
  }

  /** Notes that rows of a database are shown; while memory is short, this is forgotten. */
  void show(DatabaseName name) {
    if (!isOfEverything() && !held.isMemoryShort() && shown.add(name)) {
      held.add(bytes(name));
    }
  }

  /** Whether the user may learn that a database is gone. */
  boolean knows(DatabaseName name) {
    return isOfEverything() || shown.contains(name);
  }

  private static long bytes(DatabaseName name) {
    return BYTES_EACH + name.text().length();
  }
}
