package lectus.http.api;

import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.Method;

/**
 * Keeps passwords out of the store. CouchDB replaces the password of a document that is written to
 * a database of users by a hash. Lectus has no users and would keep it as it is, for everybody to
 * read, so it creates no such database and writes no documents to one that an older version
 * created. That one can be read and deleted.
 */
final class UsersDatabase {
  private static final String NAME = "_users";

  private UsersDatabase() {}

  /**
   * @param segments the decoded names of the request's path
   * @throws LectusException {@code not_implemented}: the request would write what may hold a
   *     password
   */
  static void check(Method method, List<String> segments) {
    if (!segments.isEmpty() && isOfUsers(segments.get(0)) && writes(method, segments)) {
      throw Requests.notImplemented(
          "There are no users yet, and passwords would be kept as they are: a database of users is"
              + " not created, and no documents are written to one.");
    }
  }

  /** As CouchDB tells them: by the last of the names between slashes. */
  private static boolean isOfUsers(String database) {
    return database.equals(NAME) || database.endsWith('/' + NAME);
  }

  private static boolean writes(Method method, List<String> segments) {
    String below = segments.size() > 1 ? segments.get(1) : ""; // the database itself
    return switch (method) {
      case PUT, COPY -> isDocument(below);
      case POST -> isDocument(below) || below.equals("_bulk_docs");
      default -> false;
    };
  }

  /** Local documents are checkpoints of those who read the database. */
  private static boolean isDocument(String name) {
    return !name.startsWith("_") || name.startsWith("_design");
  }
}
