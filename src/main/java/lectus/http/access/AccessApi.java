package lectus.http.access;

import io.vertx.core.Future;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import lectus.account.AdmissionCheck;
import lectus.http.AccessSettings;
import lectus.http.Services;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Resource;

/** Who may do what, for one event loop. */
public final class AccessApi {
  private final Authentication authentication;
  private final DatabaseGuard guard;
  private final Gate gate;
  private final Allowances allowances;
  private final Resource session;

  /**
   * @param live may change at any time; how one logs in, and how much one may ask for, is as now
   */
  public AccessApi(Services services, Supplier<AccessSettings> live) {
    AccessSettings settings = live.get();
    Sessions sessions = new Sessions(() -> live.get().cookies(), InstantSource.system());
    PasswordLogIn passwords = new PasswordLogIn(services.accounts());
    this.authentication =
        new Authentication(services.accounts(), live, sessions, services.tokens(), passwords);
    this.guard = new DatabaseGuard(services.catalogue(), settings.unset());
    this.gate =
        new Gate(
            () -> live.get().onlyAdminsListDatabases(),
            guard,
            new AdmissionCheck(services.accounts()),
            new CheckedNames());
    this.allowances = new Allowances(settings.limits(), services.usage());
    this.session =
        new SessionResource(services.accounts(), passwords, sessions, handlers(services, settings));
  }

  /** {@code /_session}. */
  public Resource session() {
    return session;
  }

  /** What users may do with databases. */
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
    CrossSite.check(exchange);
    return authentication
        .identify(exchange)
        .compose(
            known -> {
              allowances.check(exchange);
              return gate.admit(exchange);
            });
  }

  /** CouchDB's names of the ways to log in, in the order in which they are tried. */
  private static List<String> handlers(Services services, AccessSettings settings) {
    List<String> handlers = new ArrayList<>();
    settings.proxySecret().ifPresent(secret -> handlers.add("proxy"));
    if (services.tokens().areTaken()) {
      handlers.add("jwt");
    }
    handlers.add("cookie");
    handlers.add("default");
    return List.copyOf(handlers);
  }
}
