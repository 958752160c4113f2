package lectus.http.exchange;

import java.util.Optional;
import lectus.access.UserContext;

/**
 * Who asks, and how that is known.
 *
 * @param handler CouchDB's name for the way in which he logged in; empty if he did not
 * @param renewedCookie the value of a {@code Set-Cookie} that prolongs his session, if it is time
 */
public record Identity(UserContext user, Optional<String> handler, Optional<String> renewedCookie) {
  public static final Identity ANONYMOUS = withoutLogIn(UserContext.ANONYMOUS);

  public static Identity withoutLogIn(UserContext user) {
    return new Identity(user, Optional.empty(), Optional.empty());
  }

  public static Identity of(UserContext user, String handler) {
    return new Identity(user, Optional.of(handler), Optional.empty());
  }

  public Identity renewing(String cookie) {
    return new Identity(user, handler, Optional.of(cookie));
  }
}
