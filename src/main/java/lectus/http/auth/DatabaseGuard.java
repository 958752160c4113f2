package lectus.http.auth;

import java.util.Optional;
import lectus.account.UserDocumentRule.UserRights;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.error.LectusException;

/** Says what users may do with databases, by the security objects as they are at that moment. */
public final class DatabaseGuard {
  private final Catalogue catalogue;
  private final UserRights rights;

  /**
   * @param unset applies to databases whose security was never set
   */
  public DatabaseGuard(Catalogue catalogue, SecurityObject unset) {
    this.catalogue = catalogue;
    this.rights = new UserRights(unset);
  }

  /** Whether everybody may read a database whose security was never set. */
  public boolean leavesUnsetToEverybody() {
    return rights.unset().equals(SecurityObject.EVERYBODY);
  }

  /**
   * Returns what a user may do, if memory alone shows it. Never waits.
   *
   * @throws LectusException {@code not_found} (404)
   */
  Optional<DatabaseRight> recall(UserContext user, DatabaseName name) {
    return catalogue.recall(name).map(db -> judge(user, db));
  }

  /**
   * Returns what a user may do; waits for the store.
   *
   * @throws LectusException {@code not_found} (404)
   */
  public DatabaseRight of(UserContext user, DatabaseName name) {
    return judge(user, catalogue.open(name));
  }

  public DatabaseRight judge(UserContext user, DatabaseHandle db) {
    return rights.of(user, db);
  }

  /** Returns a database that does not exist for a user who may not read it. */
  public DatabaseRequest ifVisible(UserContext user, DatabaseName name) {
    return new DatabaseRequest(name, db -> requireMember(user, db));
  }

  private void requireMember(UserContext user, DatabaseHandle db) {
    if (!judge(user, db).includes(DatabaseRight.MEMBER)) {
      throw LectusException.notFound("Database does not exist.");
    }
  }
}
