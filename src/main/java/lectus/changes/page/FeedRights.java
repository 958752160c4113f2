package lectus.changes.page;

import java.util.Optional;
import lectus.account.ReplicatorDocuments;
import lectus.account.UserDocuments;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.error.LectusException;

/**
 * Who may read the changes of a database: its members; those of a system database, server admins
 * alone, as in CouchDB; those of another database of users or of replications, its admins.
 *
 * @param unset applies to databases whose security was never set
 */
public record FeedRights(SecurityObject unset) {
  /** As CouchDB 3 has it. */
  public static final FeedRights DEFAULT = new FeedRights(SecurityObject.ADMIN_ONLY);

  /** Names of system databases begin with it, and no others. */
  private static final String SYSTEM = "_";

  /** Returns who may read the database's changes, as of the handle's transaction. */
  public SecurityObject readers(DatabaseHandle db) {
    return readers(db.name(), db.security());
  }

  public SecurityObject formerReaders(DatabaseUpdate end) {
    return readers(end.name(), end.security());
  }

  private SecurityObject readers(DatabaseName name, Optional<SecurityObject> set) {
    if (name.text().startsWith(SYSTEM)) {
      return SecurityObject.ADMIN_ONLY;
    }
    SecurityObject security = set.orElse(unset);
    return UserDocuments.areIn(name) || ReplicatorDocuments.areIn(name)
        ? new SecurityObject(security.admins(), SecurityObject.ADMIN_ONLY.members())
        : security;
  }

  public boolean mayRead(UserContext user, DatabaseHandle db) {
    return user.isServerAdmin() || includes(readers(db), user);
  }

  public static boolean includes(SecurityObject readers, UserContext user) {
    return readers.rightOf(user).includes(DatabaseRight.MEMBER);
  }

  /**
   * @throws LectusException if the user may not read the database's changes
   */
  public void check(UserContext user, DatabaseHandle db) {
    if (!mayRead(user, db)) {
      throw new LectusException(user.notMember());
    }
  }
}
