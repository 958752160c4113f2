package lectus.http.access;

import io.vertx.core.http.HttpConnection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.UserLimits;
import lectus.http.UserUsage;
import lectus.http.exchange.Clients;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.UserKey;

/**
 * What one user may ask for: requests a second, and connections. For one event loop; users are
 * counted over all of them.
 */
final class Allowances {
  private static final int SOON_SECONDS = 1;

  private final UserLimits limits;
  private final UserUsage usage;
  private final Map<HttpConnection, Set<String>> users = new IdentityHashMap<>();

  Allowances(UserLimits limits, UserUsage usage) {
    this.limits = limits;
    this.usage = usage;
  }

  /**
   * Counts a request.
   *
   * @throws LectusException {@code too_many_requests} (429)
   */
  void check(Exchange exchange) {
    if (limits.requestsPerSecond() > 0 || limits.connections() > 0) {
      String user = UserKey.of(exchange);
      checkConnection(exchange.request().connection(), user);
      if (limits.requestsPerSecond() > 0 && !usage.mayAsk(user, limits.requestsPerSecond())) {
        throw tooMany("requests a second", limits.requestsPerSecond());
      }
    }
  }

  /** A proxy may send the requests of many users over one connection; each of them uses it. */
  private void checkConnection(HttpConnection connection, String user) {
    if (limits.connections() == 0) {
      return;
    }
    Set<String> known = users.computeIfAbsent(connection, this::watch);
    if (!known.contains(user)) {
      if (!usage.connect(user, limits.connections())) {
        throw tooMany("connections", limits.connections());
      }
      known.add(user);
    }
  }

  private Set<String> watch(HttpConnection connection) {
    Clients.whenClosed(
        connection,
        () -> {
          Set<String> gone = users.remove(connection);
          if (gone != null) {
            gone.forEach(usage::disconnect);
          }
        });
    return new HashSet<>();
  }

  private static LectusException tooMany(String what, int most) {
    return new LectusException(
        new LectusError.TooManyRequests(
            "A user may have " + most + " " + what + ".", SOON_SECONDS));
  }
}
