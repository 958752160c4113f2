package lectus.account;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.document.DocumentId;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/**
 * The documents of users: in which databases they are, what they are called, who may read them. As
 * in CouchDB, users log in with the documents of {@code _users}; a database whose name ends in
 * {@code /_users} is as secret, but nobody logs in with its documents.
 */
public final class UserDocuments {
  /** The database of the users of this store. */
  public static final DatabaseName USERS = DatabaseName.of("_users");

  private static final String ID_HEAD = "org.couchdb.user:";

  private UserDocuments() {}

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

  /**
   * Whether somebody who is not an admin may write a document of a database of users. As in
   * CouchDB, whoever is not logged in may register, where members may be anybody.
   */
  public static boolean mayWrite(UserContext user, String docId) {
    return user.name().isEmpty() || nameIn(docId).equals(user.name());
  }

  /**
   * Returns why somebody who is not an admin may not read a document of a database of users. As in
   * CouchDB, users see only their own, and cannot tell whether there are others.
   */
  public static Optional<LectusError> problemOfReading(UserContext user, String docId) {
    if (DocumentId.isDesign(docId)) {
      return Optional.of(
          new LectusError.Forbidden(
              "Only administrators can view design docs in the users database."));
    }
    return user.name().isPresent() && nameIn(docId).equals(user.name())
        ? Optional.empty()
        : Optional.of(new LectusError.NotFound("missing"));
  }

  /**
   * The fields of users' documents that everybody may read who may read the database, CouchDB's
   * {@code public_fields}. What is stored of a password is never among them.
   */
  public record PublicFields(List<String> names) {
    private static final Set<String> SECRET =
        Set.of("password", "password_sha", "derived_key", "salt");

    public PublicFields {
      names = List.copyOf(names);
    }

    /**
     * Returns what others see of a user's document, metadata included, but no attachments.
     *
     * @return empty if that is none of its fields; then they do not see that there is one
     */
    public Optional<JsonBuffer> shownOf(byte[] document) {
      Map<String, JsonValue> shown =
          new LinkedHashMap<>(((JsonObject) JsonValue.parse(document)).members());
      shown.keySet().removeIf(name -> !isMetadata(name) && !isPublic(name));
      if (shown.keySet().stream().allMatch(PublicFields::isMetadata)) {
        return Optional.empty();
      }
      JsonBuffer out = new JsonBuffer(document.length);
      new JsonObject(shown).writeTo(out);
      return Optional.of(out);
    }

    /** No member of a body begins like that. */
    private static boolean isMetadata(String name) {
      return name.startsWith("_") && !name.equals("_attachments");
    }

    private boolean isPublic(String name) {
      return names.contains(name) && !SECRET.contains(name);
    }
  }
}
