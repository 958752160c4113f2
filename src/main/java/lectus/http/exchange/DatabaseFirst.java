package lectus.http.exchange;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.message.Method;

/**
 * CouchDB opens a database before it looks at a request to it. So errors of a request are only
 * reported if the database exists; clients learn from the 404 that they have to create it.
 */
final class DatabaseFirst {
  private final Catalogue catalogue;

  DatabaseFirst(Catalogue catalogue) {
    this.catalogue = catalogue;
  }

  /** Whether the answer depends on the database's existence. */
  boolean concerns(Exchange exchange, LectusError error) {
    return isAboutRequest(error)
        && exchange.isAimed()
        && exchange.caller().isAdmitted()
        && needsDatabase(exchange);
  }

  private static boolean isAboutRequest(LectusError error) {
    return error instanceof LectusError.BadRequest
        || error instanceof LectusError.MethodNotAllowed
        || error instanceof LectusError.UnsupportedMediaType
        || error instanceof LectusError.NotImplemented;
  }

  /** Databases are created and deleted without being opened. */
  private static boolean needsDatabase(Exchange exchange) {
    if (exchange.segments().isEmpty() || !DatabaseName.isLegal(exchange.segment(0))) {
      return false;
    }
    boolean comesOrGoes = exchange.method() == Method.PUT || exchange.method() == Method.DELETE;
    return exchange.segments().size() > 1 || !comesOrGoes;
  }

  /**
   * Looks the database up.
   *
   * @return never
   * @throws LectusException {@code not_found}, or the given error if the database exists
   */
  <R> R insteadOf(LectusError error, Exchange exchange) {
    catalogue.open(DatabaseName.of(exchange.segment(0)));
    throw new LectusException(error);
  }
}
