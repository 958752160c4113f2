package lectus.http.api;

import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.Method;

/**
 * Refuses what is written to CouchDB's system databases for parts of CouchDB that are not here.
 *
 * <p>CouchDB replaces the password of a document that is written to a database of users by a hash.
 * Lectus has no users and would keep it as it is, for everybody to read, so it creates no such
 * database and writes no documents to one that an older version created.
 *
 * <p>A document in a database of replications starts one in CouchDB, and often holds a password.
 * Here it would rest, and nobody would hear that nothing is copied. Scripts that set up a server
 * create that database, which does no harm.
 *
 * <p>What there is can be read and deleted.
 */
final class SystemDatabases {
  private static final String OF_USERS = "_users";
  private static final String OF_REPLICATIONS = "_replicator";

  private SystemDatabases() {}

  /**
   * @param segments the decoded names of the request's path
   * @throws LectusException {@code not_implemented}: the request would write what may hold a
   *     password, or ask for a replication
   */
  static void check(Method method, List<String> segments) {
    if (segments.isEmpty()) {
      return;
    }
    String database = segments.get(0);
    String below = segments.size() > 1 ? segments.get(1) : ""; // the database itself
    if (isNamed(database, OF_USERS) && (creates(method, below) || writes(method, below))) {
      throw Requests.notImplemented(
          "There are no users yet, and passwords would be kept as they are: a database of users is"
              + " not created, and no documents are written to one.");
    }
    if (isNamed(database, OF_REPLICATIONS) && writes(method, below)) {
      throw Requests.notImplemented(
          "Lectus does not replicate by itself yet: no documents are written to a database of"
              + " replications. Let the other side replicate, or PouchDB.");
    }
  }

  /** CouchDB recognizes them by what follows the last slash. */
  private static boolean isNamed(String database, String name) {
    return database.equals(name) || database.endsWith('/' + name);
  }

  private static boolean creates(Method method, String below) {
    return method == Method.PUT && below.isEmpty();
  }

  private static boolean writes(Method method, String below) {
    return switch (method) {
      case PUT -> !below.isEmpty() && isDocument(below);
      case COPY -> true; // where to, a header says: a local document may become any other
      case POST -> isDocument(below) || below.equals("_bulk_docs");
      default -> false;
    };
  }

  /** Local documents are checkpoints of those who read the database. */
  private static boolean isDocument(String name) {
    return !name.startsWith("_") || name.startsWith("_design");
  }
}
