package lectus.account;

import java.util.Optional;
import lectus.access.DatabaseRight;
import lectus.access.SecurityObject;
import lectus.access.UserContext;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.error.LectusError;

/**
 * The documents of users: in which databases they are, what they are called, who may read them. As
 * in CouchDB, users log in with the documents of {@code _users}; a database whose name ends in
 * {@code /_users} is as secret, but nobody logs in with its documents.
 */
public final class UserDocuments {
  /** The database of the users of this store. */
  public static final DatabaseName USERS = DatabaseName.of("_users");

  private static final String ID_HEAD = "org.couchdb.user:";

  private final SecurityObject defaultSecurity;

  /**
   * @param defaultSecurity of databases whose security was never set
   */
  public UserDocuments(SecurityObject defaultSecurity) {
    this.defaultSecurity = defaultSecurity;
  }

  /** Whether a database has users' documents. */
  public static boolean areIn(DatabaseName name) {
    return name.equals(USERS) || name.text().endsWith("/" + USERS.text());
  }

  public static String idOf(String userName) {
    return ID_HEAD + userName;
  }

  /** Returns the name of the user whose document has this id; empty if it is nobody's. */
  public static Optional<String> nameIn(String docId) {
    return docId.startsWith(ID_HEAD)
        ? Optional.of(docId.substring(ID_HEAD.length()))
        : Optional.empty();
  }

  /** Whether somebody may read every document of a database of users. */
  public boolean areOpenTo(UserContext user, DatabaseHandle db) {
    return rightOf(user, db) == DatabaseRight.ADMIN;
  }

  /**
   * Returns why somebody may not read a document of a database of users. As in CouchDB, whoever is
   * no admin sees only himself, and cannot tell whether there are others.
   */
  public Optional<LectusError> problemOfReading(UserContext user, DatabaseHandle db, String docId) {
    if (areOpenTo(user, db)) {
      return Optional.empty();
    }
    if (DocumentId.isDesign(docId)) {
      return Optional.of(
          new LectusError.Forbidden(
              "Only administrators can view design docs in the users database."));
    }
    return user.name().isPresent() && nameIn(docId).equals(user.name())
        ? Optional.empty()
        : Optional.of(new LectusError.NotFound("missing"));
  }

  DatabaseRight rightOf(UserContext user, DatabaseHandle db) {
    return db.security().orElse(defaultSecurity).rightOf(user);
  }
}
