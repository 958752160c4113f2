package lectus.http.exchange;

import java.util.Optional;
import lectus.access.Admission;
import lectus.access.UserContext;

/**
 * Who asks, and how that is known.
 *
 * @param admission as whom he was let in, and for how long
 * @param handler CouchDB's name for the way in which he logged in; empty if he did not
 * @param renewedCookie the value of a {@code Set-Cookie} that prolongs his session, if it is time
 */
public record Identity(
    Admission admission, Optional<String> handler, Optional<String> renewedCookie) {
  public static final Identity ANONYMOUS = withoutLogIn(UserContext.ANONYMOUS);

  public static Identity withoutLogIn(UserContext user) {
    return new Identity(Admission.of(user), Optional.empty(), Optional.empty());
  }

  public static Identity of(Admission admission, String handler) {
    return new Identity(admission, Optional.of(handler), Optional.empty());
  }

  public Identity renewing(String cookie) {
    return new Identity(admission, handler, Optional.of(cookie));
  }

  public UserContext user() {
    return admission.user();
  }
}
