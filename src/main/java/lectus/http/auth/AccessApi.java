package lectus.http.auth;

import io.vertx.core.Future;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import lectus.account.Accounts;
import lectus.account.SessionCheck;
import lectus.database.Catalogue;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.HttpSettings.UserLimits;
import lectus.http.Method;
import lectus.http.UserUsage;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.ClientConnection;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;

/** Who may do what, for one event loop. */
public final class AccessApi {
  private static final CharSequence SITE = HttpHeaders.createOptimized("Sec-Fetch-Site");
  private static final Set<String> ELSEWHERE = Set.of("cross-site", "same-site");

  private final Authentication authentication;
  private final DatabaseGuard guard;
  private final AccessCheck check;

  /** Empty: one may ask for any number of things. */
  private final Optional<RateLimits> rateLimits;

  private final Resource session;

  /**
   * @param live may change at any time; how one logs in, and how much one may ask for, is as now
   */
  public AccessApi(Services services, Supplier<AccessSettings> live) {
    Accounts accounts = services.users().accounts();
    AccessSettings settings = live.get();
    Sessions sessions = new Sessions(() -> live.get().cookies(), InstantSource.system());
    PasswordLogIn passwords = new PasswordLogIn(accounts);
    Catalogue catalogue = services.databases().catalogue();
    this.authentication =
        new Authentication(accounts, sessions, services.users().tokens(), passwords, catalogue);
    this.guard = new DatabaseGuard(catalogue, settings.unset());
    this.check = new AccessCheck(catalogue, guard, new SessionCheck(accounts));
    UserLimits limits = settings.limits();
    this.rateLimits =
        limits.requestsPerSecond() > 0 || limits.connections() > 0
            ? Optional.of(new RateLimits(limits, services.users().usage()))
            : Optional.empty();
    this.session = new SessionResource(accounts, passwords, sessions, handlers(services, settings));
  }

  /** {@code /_session}. */
  public Resource session() {
    return session;
  }

  public DatabaseGuard guard() {
    return guard;
  }

  /**
   * Finds out who sends a request, and whether it may be served; at once where that can be known
   * without waiting.
   *
   * @return fails with what is to be answered instead
   */
  public Future<Void> admit(Exchange exchange) {
    checkSite(exchange);
    return authentication
        .identify(exchange)
        .compose(
            known -> {
              rateLimits.ifPresent(it -> it.check(exchange));
              return check.admit(exchange);
            });
  }

  /** CouchDB's names of the ways to log in, in the order in which they are tried. */
  private static List<String> handlers(Services services, AccessSettings settings) {
    List<String> handlers = new ArrayList<>();
    settings.proxySecret().ifPresent(secret -> handlers.add("proxy"));
    if (services.users().tokens().areTaken()) {
      handlers.add("jwt");
    }
    handlers.add("cookie");
    handlers.add("default");
    return List.copyOf(handlers);
  }

  /**
   * Refuses what browsers let the page of another origin send without asking the server first:
   * forms, and requests that look like forms. Nobody can read the answers, but such a request could
   * write, or log somebody in who does not know. Browsers say where a request comes from in a
   * header that pages cannot set.
   *
   * @throws LectusException {@code forbidden} (403)
   */
  private static void checkSite(Exchange exchange) {
    String site = exchange.header(SITE);
    if (site != null && ELSEWHERE.contains(site) && mayChange(exchange.method())) {
      String origin = exchange.header(HttpHeaders.ORIGIN);
      if (origin == null || !exchange.settings().cors().allows(origin)) {
        throw LectusException.forbidden(
            "Pages of this origin may not use the server (cors.origins).");
      }
    }
  }

  private static boolean mayChange(Method method) {
    return method != Method.GET && method != Method.HEAD && method != Method.OPTIONS;
  }

  /**
   * What one user may ask for: requests a second, and connections. For one event loop; users are
   * counted over all of them.
   */
  private static final class RateLimits {
    private static final int SOON_SECONDS = 1;

    private final UserLimits limits;
    private final UserUsage usage;
    private final Map<HttpConnection, Set<String>> users = new IdentityHashMap<>();

    RateLimits(UserLimits limits, UserUsage usage) {
      this.limits = limits;
      this.usage = usage;
    }

    /**
     * Counts a request.
     *
     * @throws LectusException {@code too_many_requests} (429)
     */
    void check(Exchange exchange) {
      String user = ClientAddress.userKey(exchange);
      checkConnection(exchange.request().connection(), user);
      if (limits.requestsPerSecond() > 0 && !usage.mayAsk(user, limits.requestsPerSecond())) {
        throw tooMany("requests a second", limits.requestsPerSecond());
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
      ClientConnection.whenClosed(
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
}
