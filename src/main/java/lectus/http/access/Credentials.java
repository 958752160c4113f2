package lectus.http.access;

import io.vertx.core.http.HttpHeaders;
import java.util.Optional;
import lectus.http.exchange.Exchange;

/**
 * What a request brings to say who sends it, as text: nothing is read yet.
 *
 * @param authorization the header {@code Authorization}
 * @param session the cookie of a session
 * @param proxied what a proxy says of its user
 */
record Credentials(
    Optional<String> authorization, Optional<String> session, Optional<ProxiedUser> proxied) {
  private static final String BASIC = "Basic ";
  private static final String BEARER = "Bearer ";

  /**
   * @param mayBeProxied whether a proxy's word counts
   */
  static Credentials of(Exchange exchange, boolean mayBeProxied) {
    return new Credentials(
        Optional.ofNullable(exchange.header(HttpHeaders.AUTHORIZATION)),
        SessionCookie.in(exchange.header(HttpHeaders.COOKIE)),
        mayBeProxied ? ProxiedUser.of(exchange) : Optional.empty());
  }

  /** Returns what follows the name of Basic authentication. */
  Optional<String> basic() {
    return scheme(BASIC);
  }

  /** Returns the token. */
  Optional<String> bearer() {
    return scheme(BEARER);
  }

  /** The names of schemes have no case (RFC 9110, section 11.1). */
  private Optional<String> scheme(String name) {
    return authorization
        .filter(header -> header.regionMatches(true, 0, name, 0, name.length()))
        .map(header -> header.substring(name.length()).strip());
  }
}
