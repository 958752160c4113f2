package lectus.http.api;

import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.Method;

/**
 * Refuses writes to CouchDB's databases of replications. In CouchDB a document there starts a
 * replication, and often holds a password. Here it would do nothing, and nobody would learn that
 * nothing is copied. The database itself can be created, because scripts that set up a server do
 * so, and it does no harm. What exists can be read and deleted.
 */
final class SystemDatabases {
  private static final String OF_REPLICATIONS = "_replicator";

  private SystemDatabases() {}

  /**
   * @param segments the decoded names of the request's path
   * @throws LectusException {@code not_implemented}: the request would ask for a replication
   */
  static void check(Method method, List<String> segments) {
    if (segments.isEmpty()) {
      return;
    }
    String below = segments.size() > 1 ? segments.get(1) : ""; // the database itself
    if (isOfReplications(segments.get(0)) && writes(method, below)) {
      throw Requests.notImplemented(
          "Lectus does not replicate by itself yet: no documents are written to a database of"
              + " replications. Let the other side replicate, or PouchDB.");
    }
  }

  /** CouchDB recognizes system databases by the name after the last slash. */
  private static boolean isOfReplications(String database) {
    return database.equals(OF_REPLICATIONS) || database.endsWith('/' + OF_REPLICATIONS);
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
