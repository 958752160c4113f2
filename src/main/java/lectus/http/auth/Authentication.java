package lectus.http.auth;

import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import lectus.account.Accounts;
import lectus.account.Accounts.NamedAccount;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.error.LectusException;
import lectus.error.NotInMemoryException;
import lectus.http.Headers;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.Method;
import lectus.http.Signatures;
import lectus.http.Tokens;
import lectus.http.auth.PasswordLogIn.BasicPassword;
import lectus.http.auth.Sessions.AccountView;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Exchange.Identity;
import lectus.http.limits.RequestThreads.Kind;

/**
 * Finds out who sends a request, in CouchDB's order: a proxy's word, a token, a cookie, a name and
 * password. A wrong password or token is an error whatever is asked for; a cookie that is over
 * counts as none, so that one can log in again.
 */
public final class Authentication {
  private final Accounts accounts;
  private final Sessions sessions;
  private final Tokens tokens;
  private final PasswordLogIn passwords;
  private final Catalogue catalogue;

  Authentication(
      Accounts accounts,
      Sessions sessions,
      Tokens tokens,
      PasswordLogIn passwords,
      Catalogue catalogue) {
    this.catalogue = catalogue;
    this.accounts = accounts;
    this.sessions = sessions;
    this.tokens = tokens;
    this.passwords = passwords;
  }

  /**
   * Notes in the exchange who sends the request; at once where that can be known without waiting.
   *
   * @return fails with {@code unauthorized} (401), {@code forbidden} (403) or {@code bad_request}
   *     (400)
   */
  public Future<Void> identify(Exchange exchange) {
    if (saysNothing(exchange.request().headers())) {
      return asNobody(exchange);
    }
    Credentials credentials = Credentials.of(exchange);
    if (credentials.areNone()) {
      return asNobody(exchange);
    }
    return withoutPassword(exchange, credentials)
        .compose(
            found ->
                found.isPresent()
                    ? Future.succeededFuture(found)
                    : byPassword(exchange, credentials))
        .map(found -> found.orElseGet(() -> nobody(exchange)))
        .map(
            identity -> {
              exchange.become(identity);
              return null;
            });
  }

  /** Most requests have none of the headers in which a log-in may stand. */
  private static boolean saysNothing(MultiMap headers) {
    return !headers.contains(HttpHeaders.AUTHORIZATION)
        && !headers.contains(HttpHeaders.COOKIE)
        && !headers.contains(Headers.PROXIED_NAME);
  }

  private Future<Void> asNobody(Exchange exchange) {
    try {
      exchange.become(nobody(exchange));
      return Future.succeededFuture();
    } catch (LectusException notWelcome) {
      return Future.failedFuture(notWelcome);
    }
  }

  private Future<Optional<Identity>> withoutPassword(Exchange exchange, Credentials given) {
    boolean isSecure = given.session().isPresent() && ClientAddress.isSecure(exchange);
    try {
      return Future.succeededFuture(recalled(given, isSecure));
    } catch (NotInMemoryException unknown) {
      return exchange.read(Kind.REQUEST, () -> verified(given, isSecure));
    } catch (LectusException wrong) {
      return Future.failedFuture(wrong);
    }
  }

  /**
   * @throws NotInMemoryException another thread has to look
   */
  private Optional<Identity> recalled(Credentials given, boolean isSecure) {
    return byProxy(given)
        .or(() -> byOldPlace(given, this::recalled))
        .or(
            () ->
                token(given)
                    .map(tokens::recall)
                    .map(known -> known.orElseThrow(() -> NotInMemoryException.INSTANCE))
                    .map(Authentication::ofToken))
        .or(() -> bySession(given, isSecure, new AccountView.InMemory(accounts)));
  }

  private Optional<Identity> verified(Credentials given, boolean isSecure) {
    return byProxy(given)
        .or(() -> byOldPlace(given, catalogue::locate))
        .or(() -> token(given).map(tokens::verify).map(Authentication::ofToken))
        .or(() -> bySession(given, isSecure, new AccountView.InStore(accounts)));
  }

  private Optional<DatabaseHandle> recalled(DatabaseName name) {
    Optional<DatabaseHandle> known = catalogue.recallAnywhere(name);
    if (known.isEmpty()) {
      throw NotInMemoryException.INSTANCE;
    }
    return known;
  }

  private static Optional<Identity> byProxy(Credentials given) {
    return given
        .settings()
        .proxySecret()
        .flatMap(secret -> given.proxied().flatMap(user -> user.verified(secret)))
        .map(user -> Identity.of(Session.of(user), "proxy"));
  }

  /** The place that a database came from vouches for its users, in requests for this database. */
  private static Optional<Identity> byOldPlace(
      Credentials given, Function<DatabaseName, Optional<DatabaseHandle>> finding) {
    return given
        .proxied()
        .flatMap(
            user ->
                given
                    .database()
                    .flatMap(finding)
                    .flatMap(DatabaseHandle::voucher)
                    .flatMap(secret -> user.vouchedFor(secret.text())))
        .filter(user -> user.name().isPresent() || !given.settings().requiresUser(false))
        .map(user -> Identity.of(Session.of(user), "proxy"));
  }

  private Optional<String> token(Credentials given) {
    return tokens.areTaken() ? given.bearer() : Optional.empty();
  }

  private static Identity ofToken(Session session) {
    return Identity.of(session, "jwt");
  }

  private static Session session(NamedAccount account) {
    return new Session(account.user(), Optional.empty(), Optional.of(account.salt()));
  }

  private Optional<Identity> bySession(Credentials given, boolean isSecure, AccountView view) {
    return given.session().flatMap(cookie -> sessions.identify(cookie, isSecure, view));
  }

  private Future<Optional<Identity>> byPassword(Exchange exchange, Credentials given) {
    Optional<BasicPassword> password = given.basic().flatMap(BasicPassword::parse);
    return password.isEmpty()
        ? Future.succeededFuture(Optional.empty())
        : passwords
            .verify(exchange, password.get())
            .map(account -> Optional.of(Identity.of(session(account), "default")));
  }

  /**
   * Returns who sends nothing that is known: an admin, while there is none and only this machine
   * reaches the server.
   *
   * @throws LectusException {@code unauthorized}: nobody may do this without a log-in
   */
  private Identity nobody(Exchange exchange) {
    if (requiresUser(exchange)) {
      throw LectusException.unauthorized("Authentication required.");
    }
    return Identity.withoutLogIn(accounts.nobody());
  }

  /** Logging in is possible for everybody. */
  private boolean requiresUser(Exchange exchange) {
    List<String> path = exchange.target().segments();
    String only = path.size() == 1 ? path.get(0) : "";
    boolean isLogIn = exchange.method() == Method.POST && only.equals("_session");
    return !isLogIn && exchange.settings().access().requiresUser(only.equals("_up"));
  }

  /**
   * What a request brings to say who sends it, as text: nothing is read yet.
   *
   * @param settings as they were when it came
   * @param authorization the header {@code Authorization}
   * @param session the cookie of a session
   * @param proxied what a proxy says of its user, or the old place of a database
   * @param database that is asked for, where somebody says something of a user
   */
  private record Credentials(
      AccessSettings settings,
      Optional<String> authorization,
      Optional<String> session,
      Optional<ProxiedUser> proxied,
      Optional<DatabaseName> database) {
    private static final String BASIC = "Basic ";
    private static final String BEARER = "Bearer ";

    static Credentials of(Exchange exchange) {
      Optional<ProxiedUser> proxied = ProxiedUser.of(exchange);
      return new Credentials(
          exchange.settings().access(),
          Optional.ofNullable(exchange.header(HttpHeaders.AUTHORIZATION)),
          SessionCookie.in(exchange.header(HttpHeaders.COOKIE)),
          proxied,
          proxied.flatMap(
              user ->
                  exchange.target().segments().stream()
                      .findFirst()
                      .filter(DatabaseName::isLegal)
                      .map(DatabaseName::of)));
    }

    boolean areNone() {
      return authorization.isEmpty() && session.isEmpty() && proxied.isEmpty();
    }

    /** Returns what follows the name of Basic authentication. */
    Optional<String> basic() {
      return scheme(BASIC);
    }

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

  /**
   * The user of a proxy that logs in users by itself, in CouchDB's headers.
   *
   * @param name empty for somebody who is not logged in at a database's old place
   * @param signed the name as it came
   * @param token signs it
   */
  private record ProxiedUser(String name, byte[] signed, String roles, String token) {
    /** The role of somebody without a name, for whom it was said that there is none. */
    private static final String NAMELESS = "_vouched";

    static Optional<ProxiedUser> of(Exchange exchange) {
      return header(exchange, Headers.PROXIED_NAME)
          .map(
              name ->
                  new ProxiedUser(
                      name,
                      exchange.headerBytes(Headers.PROXIED_NAME),
                      header(exchange, Headers.PROXIED_ROLES).orElse(""),
                      header(exchange, Headers.PROXIED_TOKEN).orElse("")));
    }

    private static Optional<String> header(Exchange exchange, CharSequence name) {
      return Optional.ofNullable(exchange.header(name));
    }

    /** Returns the user if the proxy knows the secret. */
    Optional<UserContext> verified(String secret) {
      return !name.isBlank() && Signatures.isSigned(signed, secret, token)
          ? Optional.of(UserContext.named(name, roleSet()))
          : Optional.empty();
    }

    /** As {@link #verified}, by the old place of a database, where users need no name. */
    Optional<UserContext> vouchedFor(String secret) {
      if (!name.isEmpty() || !Signatures.isSigned(signed, secret, token)) {
        return verified(secret);
      }
      Set<String> roles = roleSet();
      roles.add(NAMELESS);
      return Optional.of(new UserContext(Optional.empty(), roles));
    }

    private Set<String> roleSet() {
      Set<String> set = new HashSet<>(List.of(roles.trim().split("\\s*,\\s*")));
      set.remove("");
      return set;
    }
  }
}
