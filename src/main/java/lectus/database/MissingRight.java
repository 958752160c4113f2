package lectus.database;

import lectus.error.LectusError;

/**
 * What is told to somebody whose right on a database does not suffice, in CouchDB's words. Whoever
 * is not logged in may try that first.
 */
public final class MissingRight {
  private static final String ADMIN = "You are not a db or server admin.";

  private MissingRight() {}

  /** Returns the answer to what needs a member. */
  public static LectusError ofMember(UserContext user) {
    return user.name().isPresent()
        ? new LectusError.Forbidden("You are not allowed to access this db.")
        : new LectusError.Unauthorized("You are not authorized to access this db.");
  }

  /** Returns the answer to what needs an admin of the database. */
  public static LectusError ofAdmin(UserContext user) {
    return user.name().isPresent()
        ? new LectusError.Forbidden(ADMIN)
        : new LectusError.Unauthorized(ADMIN);
  }
}
