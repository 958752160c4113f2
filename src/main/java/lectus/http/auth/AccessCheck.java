package lectus.http.auth;

import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import lectus.account.ReplicatorDocuments;
import lectus.account.SessionCheck;
import lectus.account.UserDocuments;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest.DatabaseAccess;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.database.UserContext.Session;
import lectus.database.Whereabouts.Moved;
import lectus.error.LectusException;
import lectus.http.auth.RouteRights.Needed;
import lectus.http.exchange.Exchange;
import lectus.http.limits.RequestThreads.Kind;

/**
 * Decides whether a request is served, once it is known who sends it. Whether the database exists
 * is answered as CouchDB answers it: to everybody who asks for something in it.
 */
public final class AccessCheck {
  /** The first character of the server's own names, and of databases that do not move. */
  private static final char OF_SERVER = '_';

  private final Catalogue catalogue;
  private final DatabaseGuard guard;
  private final SessionCheck sessions;

  AccessCheck(Catalogue catalogue, DatabaseGuard guard, SessionCheck sessions) {
    this.catalogue = catalogue;
    this.guard = guard;
    this.sessions = sessions;
  }

  /**
   * Admits a request or fails, at once where that can be done without waiting. A request for a
   * database that has moved is judged at its new place.
   *
   * @return fails with {@code unauthorized} (401), {@code forbidden} (403) or {@code not_found}
   *     (404)
   */
  public Future<Void> admit(Exchange exchange) {
    return mayHaveMoved(exchange) ? admitAnywhere(exchange) : admitHere(exchange);
  }

  /**
   * By what is remembered. If that is nothing, the database is looked up before a body is read:
   * afterwards the request could not be passed on.
   */
  private boolean mayHaveMoved(Exchange exchange) {
    List<String> path = exchange.target().segments();
    if (path.isEmpty() || path.get(0).charAt(0) == OF_SERVER) {
      return false;
    }
    Optional<DatabaseHandle> known = catalogue.remembered(new DatabaseName(path.get(0)));
    return known.isPresent() ? known.get().whereabouts() instanceof Moved : exchange.hasBody();
  }

  private Future<Void> admitAnywhere(Exchange exchange) {
    if (!exchange.isInDatabase()) {
      return admitHere(exchange);
    }
    DatabaseName name = exchange.databaseName();
    Optional<DatabaseHandle> known = catalogue.recallAnywhere(name);
    Future<Optional<DatabaseHandle>> found =
        known.isPresent()
            ? Future.succeededFuture(known)
            : exchange.read(Kind.REQUEST, () -> catalogue.locate(name));
    return found.compose(db -> admit(exchange, db.flatMap(DatabaseHandle::passesTo)));
  }

  private Future<Void> admit(Exchange exchange, Optional<Moved> place) {
    place.ifPresent(exchange::goesTo);
    return place.isPresent() ? Future.succeededFuture() : admitHere(exchange);
  }

  private Future<Void> admitHere(Exchange exchange) {
    UserContext user = exchange.user();
    if (user.isServerAdmin()) {
      return admitted(exchange, DatabaseRight.ADMIN, Needed.NONE);
    }
    Needed required =
        RouteRights.of(
            exchange.method(),
            exchange.target().segments(),
            exchange.settings().access().onlyAdminsListDatabases());
    Optional<LectusException> refusal = required.refusal(user);
    if (refusal.isPresent()) {
      return Future.failedFuture(refusal.get());
    }
    return required
        .ofDatabase()
        .map(needed -> admit(exchange, user, required, needed))
        .orElseGet(() -> admitted(exchange, DatabaseRight.NONE, required));
  }

  private Future<Void> admit(
      Exchange exchange, UserContext user, Needed required, DatabaseRight needed) {
    return rightOf(exchange, user, needed)
        .compose(
            has ->
                has.includes(needed)
                    ? admitted(exchange, has, required)
                    : Future.failedFuture(required.refusal(user, has)));
  }

  /** The right to read a document is judged by the transaction that reads it, and only there. */
  private Future<DatabaseRight> rightOf(Exchange exchange, UserContext user, DatabaseRight needed) {
    try {
      DatabaseName name = exchange.databaseName();
      if (!isSecret(name)
          && exchange.target().isUtf8From(1)
          && RouteRights.readsDocument(exchange.method(), exchange.target().segments())) {
        return Future.succeededFuture(needed);
      }
      return guard
          .recall(user, name)
          .map(Future::succeededFuture)
          .orElseGet(() -> exchange.read(Kind.REQUEST, () -> guard.of(user, name)));
    } catch (LectusException noDatabase) {
      return Future.failedFuture(noDatabase);
    }
  }

  /** Whether a database has documents of which others than its admins are shown less. */
  private static boolean isSecret(DatabaseName name) {
    return UserDocuments.areIn(name) || ReplicatorDocuments.areIn(name);
  }

  private Future<Void> admitted(Exchange exchange, DatabaseRight right, Needed required) {
    exchange.admit(
        right, new RequestAccess(exchange.identity().session(), required, right, guard, sessions));
    return Future.succeededFuture();
  }

  /**
   * What the gate found when it let a request pass, judged again whenever a database is read for
   * it.
   *
   * @param required by the request's route
   * @param had the right on the database when the request was admitted
   */
  private record RequestAccess(
      Session session,
      Needed required,
      DatabaseRight had,
      DatabaseGuard guard,
      SessionCheck sessions)
      implements DatabaseAccess {

    @Override
    public void judge(DatabaseHandle db) {
      UserContext user = session.user();
      if (user.isServerAdmin() || required.ofDatabase().isEmpty()) {
        return;
      }
      DatabaseRight has = guard.judge(user, db);
      if (!has.includes(needed(db))) {
        throw required.refusal(user, has);
      }
    }

    /** An admin of such a database is shown more of it than others are. */
    private DatabaseRight needed(DatabaseHandle db) {
      return isSecret(db.name()) ? had : required.ofDatabase().orElse(DatabaseRight.NONE);
    }

    /**
     * @throws LectusException {@code unauthorized}
     */
    @Override
    public void checkAdmission() {
      sessions.check(session);
    }
  }
}
