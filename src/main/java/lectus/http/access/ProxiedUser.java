package lectus.http.access;

import io.vertx.core.http.HttpHeaders;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.access.UserContext;
import lectus.http.exchange.Exchange;

/**
 * The user of a proxy that logs in users by itself, in CouchDB's headers.
 *
 * @param signed the name as it came
 * @param token signs it
 */
record ProxiedUser(String name, byte[] signed, String roles, String token) {
  private static final CharSequence NAME = HttpHeaders.createOptimized("X-Auth-CouchDB-UserName");
  private static final CharSequence ROLES = HttpHeaders.createOptimized("X-Auth-CouchDB-Roles");
  private static final CharSequence TOKEN = HttpHeaders.createOptimized("X-Auth-CouchDB-Token");

  static Optional<ProxiedUser> of(Exchange exchange) {
    return header(exchange, NAME)
        .map(
            name ->
                new ProxiedUser(
                    name,
                    exchange.headerBytes(NAME),
                    header(exchange, ROLES).orElse(""),
                    header(exchange, TOKEN).orElse("")));
  }

  private static Optional<String> header(Exchange exchange, CharSequence name) {
    return Optional.ofNullable(exchange.header(name)).filter(value -> !value.isBlank());
  }

  /** Returns the user if the proxy knows the secret. */
  Optional<UserContext> verified(String secret) {
    return Signatures.isSigned(signed, secret, token)
        ? Optional.of(UserContext.named(name, roleSet()))
        : Optional.empty();
  }

  private Set<String> roleSet() {
    Set<String> set = new HashSet<>(List.of(roles.trim().split("\\s*,\\s*")));
    set.remove("");
    return set;
  }
}
