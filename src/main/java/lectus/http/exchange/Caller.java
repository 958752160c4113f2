package lectus.http.exchange;

import java.util.Optional;
import lectus.database.DatabaseAccess;
import lectus.database.DatabaseHandle;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.database.UserContext.Session;
import lectus.error.LectusException;

/**
 * Who asks in one exchange, and the rights in the database that the request names. Nobody is known
 * until the request has been authenticated, and nothing is allowed until it was admitted. For the
 * connection's event loop.
 */
public final class Caller {
  private Identity identity = Identity.ANONYMOUS;
  private Optional<DatabaseRight> right = Optional.empty();
  private DatabaseAccess permit = Caller::refuse;

  /** Notes who asks. */
  public void become(Identity known) {
    identity = known;
  }

  /**
   * Notes the rights in the request's database, once the request may be served at all.
   *
   * @param reading judges whether reading is still allowed, each time that the database is read
   */
  public void admit(DatabaseRight judged, DatabaseAccess reading) {
    right = Optional.of(judged);
    permit = reading;
  }

  private static void refuse(DatabaseHandle db) {
    throw LectusException.forbidden("The request was not admitted.");
  }

  /** Returns what allows reading, which any thread may ask. */
  public DatabaseAccess permit() {
    return permit;
  }

  public UserContext user() {
    return identity.user();
  }

  /** Returns as whom the client was let in, and for how long. */
  public Session admission() {
    return identity.admission();
  }

  /** Returns the way of logging in, by CouchDB's names; empty without a log-in. */
  public Optional<String> handler() {
    return identity.handler();
  }

  /** Returns the value of a {@code Set-Cookie} that prolongs the session. */
  Optional<String> renewedCookie() {
    return identity.renewedCookie();
  }

  /** Whether the request may be served. */
  boolean isAdmitted() {
    return right.isPresent();
  }

  /** Whether design documents and settings of the request's database may be written. */
  public boolean isDatabaseAdmin() {
    return right.filter(DatabaseRight.ADMIN::equals).isPresent();
  }
}
