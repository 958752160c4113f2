package lectus.changes.multi;

import lectus.changes.page.FeedRights;
import lectus.database.SecurityObject;
import lectus.database.UserContext;

/**
 * Which databases a reader's user sees: those that the user may read, as of each page's read
 * version. The others seem not to exist. That a database is deleted is told to those who could read
 * it at that time.
 */
record VisibleDatabases(UserContext user) {
  static final VisibleDatabases EVERYTHING = new VisibleDatabases(UserContext.SERVER);

  static VisibleDatabases of(UserContext user) {
    return user.isServerAdmin() ? EVERYTHING : new VisibleDatabases(user);
  }

  boolean isOfEverything() {
    return user.isServerAdmin();
  }

  /** Whether the user is one of those who may read a database. */
  boolean isAmong(SecurityObject readers) {
    return FeedRights.includes(readers, user);
  }
}
