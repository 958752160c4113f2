package lectus.http.document;

import java.util.Optional;
import lectus.account.ReplicatorDocuments;
import lectus.account.UserDocuments;
import lectus.account.UserDocuments.PublicFields;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.json.JsonBuffer;

/**
 * Hides users, and what others' replications log in with: of databases of users and of replications
 * only admins see all documents.
 */
final class SecretDocuments {
  private SecretDocuments() {}

  /**
   * @throws LectusException {@code not_found} (404), {@code forbidden} (403): the document is not
   *     for whoever asks
   */
  static void check(Exchange exchange, DatabaseName database, String docId) {
    if (hidesUsers(exchange, database)) {
      UserDocuments.problemOfReading(exchange.user(), docId)
          .ifPresent(
              error -> {
                throw new LectusException(error);
              });
    }
  }

  /**
   * As above, for a request that hands on all of the document's members.
   *
   * @throws LectusException {@code unauthorized} (401), too
   */
  static void checkWhole(Exchange exchange, DatabaseName database, String docId) {
    check(exchange, database, docId);
    if (hidesReplications(exchange, database, docId)) {
      throw new LectusException(exchange.user().notAdmin());
    }
  }

  /** What whoever asks sees of a document. */
  @FunctionalInterface
  interface Shown {
    /** Returns the document as it is shown; empty if nothing is, not even that it exists. */
    Optional<JsonBuffer> of(byte[] document);
  }

  /**
   * Returns how a document is shown to whoever asks, if they may not see all of it: of another user
   * the public fields, of a replication all but what it logs in with.
   */
  static Optional<Shown> shown(
      Exchange exchange, DatabaseName database, String docId, PublicFields fields) {
    if (hidesReplications(exchange, database, docId)) {
      return Optional.of(json -> Optional.of(ReplicatorDocuments.shownTo(exchange.user(), json)));
    }
    boolean isOthers =
        hidesUsers(exchange, database)
            && UserDocuments.problemOfReading(exchange.user(), docId)
                .filter(LectusError.NotFound.class::isInstance)
                .isPresent();
    return !isOthers
        ? Optional.empty()
        : Optional.of(json -> fields.names().isEmpty() ? Optional.empty() : fields.shownOf(json));
  }

  /**
   * @throws LectusException {@code unauthorized} (401), {@code forbidden} (403): a request about
   *     many documents, which in a database of users or of replications is for its admins
   */
  static void checkMany(Exchange exchange) {
    DatabaseName database = exchange.databaseName();
    if (hidesUsers(exchange, database) || hidesReplications(exchange, database, "")) {
      throw new LectusException(exchange.user().notAdmin());
    }
  }

  private static boolean hidesUsers(Exchange exchange, DatabaseName database) {
    return UserDocuments.areIn(database) && !exchange.isDatabaseAdmin();
  }

  private static boolean hidesReplications(Exchange exchange, DatabaseName database, String docId) {
    return ReplicatorDocuments.areIn(database)
        && !DocumentId.isDesign(docId)
        && !exchange.isDatabaseAdmin();
  }
}
