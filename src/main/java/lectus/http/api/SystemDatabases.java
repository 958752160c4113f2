package lectus.http.api;

import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.Method;

/**
 * Refuses writes to CouchDB's system databases whose functions Lectus does not have.
 *
 * <p>In CouchDB a document of a database of users has its password replaced by a hash. Lectus has
 * no users and would store the password as it is, for everybody to read. So it creates no such
 * database and writes no documents to one that an older version created.
 *
 * <p>In CouchDB a document of a database of replications starts a replication, and often holds a
 * password. Here it would do nothing, and nobody would learn that nothing is copied. The database
 * itself can be created, because scripts that set up a server do so, and it does no harm.
 *
 * <p>What exists can be read and deleted.
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

  /** CouchDB recognizes system databases by the name after the last slash. */
  private static boolean isNamed(String database, String name) {
    return database.equals(name) || database.endsWith('/' + name);
  }

  private static boolean creates(Method method, String below) {
    return method == Method.PUT && below.isEmpty();
  }

  private static boolean writes(Method method, String below) {
    return switch (method) {
      case PUT -> !below.isEmpty() && isDocument(below);
      case COPY -> true; // a header names the target: a local document may become any other
      case POST -> isDocument(below) || below.equals("_bulk_docs");
      default -> false;
    };
  }

  /** Local documents are checkpoints of the database's readers, so they are allowed. */
  private static boolean isDocument(String name) {
    return !name.startsWith("_") || name.startsWith("_design");
  }
}
