package lectus.http.auth;

import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.account.Accounts;
import lectus.account.Accounts.NamedAccount;
import lectus.database.UserContext.Session;
import lectus.error.NotInMemoryException;
import lectus.http.HttpSettings.CookieSettings;
import lectus.http.exchange.Exchange.Identity;

/** Sessions that live in cookies. Thread-safe. */
record Sessions(Supplier<CookieSettings> settings, InstantSource clock) {
  /** CouchDB's name of this way to log in. */
  private static final String HANDLER = "cookie";

  /** A session is prolonged once it has less than this part of its time left, in tenths. */
  private static final int TENTHS_OF_A_FRESH_ONE = 9;

  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd-MMM-yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  /**
   * Returns whose session it is. One that is over, or was signed otherwise, counts as none.
   *
   * @param value of the cookie
   * @param isSecure whether the client came over TLS
   */
  Optional<Identity> identify(String value, boolean isSecure, AccountView accounts) {
    Optional<SessionCookie> cookie = SessionCookie.parse(value).filter(it -> secondsLeft(it) > 0);
    if (cookie.isEmpty()) {
      return Optional.empty();
    }
    Optional<NamedAccount> account = accounts.account(cookie.get().name());
    return account
        .filter(it -> cookie.get().isOf(it, accounts.secret()))
        .map(it -> identity(it, cookie.get(), isSecure, accounts));
  }

  private Identity identity(
      NamedAccount account, SessionCookie cookie, boolean isSecure, AccountView accounts) {
    long left = secondsLeft(cookie);
    if (left * 10 >= settings.get().seconds() * (long) TENTHS_OF_A_FRESH_ONE) {
      return Identity.of(session(account, left), HANDLER);
    }
    return Identity.of(session(account, settings.get().seconds()), HANDLER)
        .renewing(begin(account, accounts.secret(), isSecure));
  }

  private Session session(NamedAccount account, long seconds) {
    Instant until = clock.instant().plusSeconds(seconds);
    return new Session(account.user(), Optional.of(until), Optional.of(account.salt()));
  }

  private long secondsLeft(SessionCookie cookie) {
    return cookie.seconds() + settings.get().seconds() - clock.instant().getEpochSecond();
  }

  /** Returns the value of a {@code Set-Cookie} that begins a session. */
  String begin(NamedAccount account, byte[] secret, boolean isSecure) {
    return cookie(SessionCookie.of(account, clock.instant(), secret).value(), isSecure);
  }

  /** Returns the value of a {@code Set-Cookie} that ends it. */
  String end(boolean isSecure) {
    return cookie("", isSecure);
  }

  /**
   * Returns the value of a {@code Set-Cookie}, written as CouchDB writes it: nano looks for the
   * moment when it expires.
   *
   * @param value empty to remove the cookie
   * @param isSecure whether the client came over TLS; then it is never sent without
   */
  String cookie(String value, boolean isSecure) {
    CookieSettings now = settings.get();
    StringBuilder cookie = new StringBuilder(SessionCookie.NAME).append('=').append(value);
    cookie.append("; Version=1");
    if (value.isEmpty()) {
      appendEnd(cookie, Instant.EPOCH, 0);
    } else if (now.persistent()) {
      appendEnd(cookie, clock.instant().plusSeconds(now.seconds()), now.seconds());
    }
    if (isSecure) {
      cookie.append("; Secure");
    }
    now.domain().ifPresent(domain -> cookie.append("; Domain=").append(domain));
    cookie.append("; Path=/; HttpOnly");
    now.sameSite().ifPresent(site -> cookie.append("; SameSite=").append(site));
    return cookie.toString();
  }

  private static void appendEnd(StringBuilder cookie, Instant end, int seconds) {
    cookie.append("; Expires=").append(DATE.format(end)).append("; Max-Age=").append(seconds);
  }

  /** The accounts, as far as memory has them or as the store has them. */
  interface AccountView {
    /**
     * @throws NotInMemoryException the store has to be asked
     */
    Optional<NamedAccount> account(String name);

    /**
     * Returns the secret with which cookies are signed.
     *
     * @throws NotInMemoryException the store has to be asked
     */
    byte[] secret();

    /** For event loops: it never waits. */
    record InMemory(Accounts accounts) implements AccountView {
      @Override
      public Optional<NamedAccount> account(String name) {
        return accounts.recallAccount(name).orElseThrow(() -> NotInMemoryException.INSTANCE);
      }

      @Override
      public byte[] secret() {
        return accounts.cookieSecret().recall().orElseThrow(() -> NotInMemoryException.INSTANCE);
      }
    }

    /** Waits. */
    record InStore(Accounts accounts) implements AccountView {
      @Override
      public Optional<NamedAccount> account(String name) {
        return accounts.account(name);
      }

      @Override
      public byte[] secret() {
        return accounts.cookieSecret().read();
      }
    }
  }
}
