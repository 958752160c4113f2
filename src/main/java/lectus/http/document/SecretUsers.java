package lectus.http.document;

import lectus.account.UserDocuments;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;

/** Hides users from each other: only admins of a database of users see the documents of others. */
final class SecretUsers {
  private SecretUsers() {}

  /**
   * @throws LectusException {@code not_found} (404), {@code forbidden} (403): the document is not
   *     for whoever asks
   */
  static void check(Exchange exchange, DatabaseName database, String docId) {
    if (hides(exchange, database)) {
      UserDocuments.problemOfReading(exchange.user(), docId)
          .ifPresent(
              error -> {
                throw new LectusException(error);
              });
    }
  }

  /**
   * Whether a document may be of another user than who asks, who sees its public fields at most.
   */
  static boolean isOthers(Exchange exchange, DatabaseName database, String docId) {
    return hides(exchange, database)
        && UserDocuments.problemOfReading(exchange.user(), docId)
            .filter(LectusError.NotFound.class::isInstance)
            .isPresent();
  }

  /**
   * @throws LectusException {@code unauthorized} (401), {@code forbidden} (403): a request about
   *     many documents, which in a database of users is for its admins
   */
  static void checkMany(Exchange exchange) {
    if (hides(exchange, exchange.databaseName())) {
      throw new LectusException(exchange.user().notAdmin());
    }
  }

  private static boolean hides(Exchange exchange, DatabaseName database) {
    return UserDocuments.areIn(database) && !exchange.isDatabaseAdmin();
  }
}
