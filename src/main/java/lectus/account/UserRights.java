package lectus.account;

import lectus.database.DatabaseHandle;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;

/**
 * What users may do with databases. Each user may reach {@code _users} while its security was never
 * set, because the user's own document is there.
 *
 * @param unset applies to other databases whose security was never set
 */
public record UserRights(SecurityObject unset) {

  /** Returns what a user may do, as of the handle's transaction. */
  public DatabaseRight of(UserContext user, DatabaseHandle db) {
    if (user.isServerAdmin()) {
      return DatabaseRight.ADMIN;
    }
    if (db.security().isEmpty() && db.name().equals(UserDocuments.USERS)) {
      return user.name().isPresent() ? DatabaseRight.MEMBER : DatabaseRight.NONE;
    }
    return db.security().orElse(unset).rightOf(user);
  }
}
