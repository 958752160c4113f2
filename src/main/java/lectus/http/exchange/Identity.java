package lectus.http.exchange;

import java.util.Optional;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;

/**
 * Who asks, and how that is known.
 *
 * @param session as whom the client was let in, and for how long
 * @param handler CouchDB's name for the way of logging in; empty without a log-in
 * @param renewedCookie the value of a {@code Set-Cookie} that prolongs the session, if it is time
 */
public record Identity(Session session, Optional<String> handler, Optional<String> renewedCookie) {
  public static final Identity ANONYMOUS = withoutLogIn(UserContext.ANONYMOUS);

  public static Identity withoutLogIn(UserContext user) {
    return new Identity(Session.of(user), Optional.empty(), Optional.empty());
  }

  public static Identity of(Session session, String handler) {
    return new Identity(session, Optional.of(handler), Optional.empty());
  }

  public Identity renewing(String cookie) {
    return new Identity(session, handler, Optional.of(cookie));
  }

  public UserContext user() {
    return session.user();
  }
}
