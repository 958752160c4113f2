package lectus.http.exchange;

import java.util.Optional;
import lectus.access.Admission;
import lectus.access.DatabaseRight;
import lectus.access.UserContext;
import lectus.database.DatabaseHandle;
import lectus.database.Permit;
import lectus.error.LectusException;

/**
 * Who asks in one exchange, and what he may do with the database that the request names. Nobody is
 * known until the request has been authenticated, and nothing is allowed until it was admitted. For
 * the connection's event loop.
 */
public final class Caller {
  private Identity identity = Identity.ANONYMOUS;
  private Optional<DatabaseRight> right = Optional.empty();
  private Permit permit = Caller::refuse;

  /** Notes who asks. */
  public void become(Identity known) {
    identity = known;
  }

  /**
   * Notes what he may do with the request's database, once the request may be served at all.
   *
   * @param reading judges whether he still may, each time that the database is read for him
   */
  public void admit(DatabaseRight judged, Permit reading) {
    right = Optional.of(judged);
    permit = reading;
  }

  private static void refuse(DatabaseHandle db) {
    throw LectusException.forbidden("The request was not admitted.");
  }

  /** Returns what lets him read, which any thread may ask. */
  public Permit permit() {
    return permit;
  }

  public UserContext user() {
    return identity.user();
  }

  /** Returns as whom he was let in, and for how long. */
  public Admission admission() {
    return identity.admission();
  }

  /** Returns how he logged in, by CouchDB's names; empty if he did not. */
  public Optional<String> handler() {
    return identity.handler();
  }

  /** Returns the value of a {@code Set-Cookie} that prolongs his session. */
  Optional<String> renewedCookie() {
    return identity.renewedCookie();
  }

  /** Whether the request may be served. */
  boolean isAdmitted() {
    return right.isPresent();
  }

  /** Whether he may write design documents and settings of the request's database. */
  public boolean isDatabaseAdmin() {
    return right.filter(DatabaseRight.ADMIN::equals).isPresent();
  }
}
