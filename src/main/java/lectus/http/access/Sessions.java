package lectus.http.access;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.access.Admission;
import lectus.account.NamedAccount;
import lectus.http.CookieSettings;
import lectus.http.exchange.Identity;

/** Sessions that live in cookies. Thread-safe. */
final class Sessions {
  /** CouchDB's name of this way to log in. */
  private static final String HANDLER = "cookie";

  /** A session is prolonged once it has less than this part of its time left, in tenths. */
  private static final int TENTHS_OF_A_FRESH_ONE = 9;

  private final Supplier<CookieSettings> settings;
  private final CookieHeader header;
  private final InstantSource clock;

  Sessions(Supplier<CookieSettings> settings, InstantSource clock) {
    this.settings = settings;
    this.header = new CookieHeader(settings, clock);
    this.clock = clock;
  }

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
      return Identity.of(admission(account, left), HANDLER);
    }
    return Identity.of(admission(account, settings.get().seconds()), HANDLER)
        .renewing(begin(account, accounts.secret(), isSecure));
  }

  private Admission admission(NamedAccount account, long seconds) {
    Instant until = clock.instant().plusSeconds(seconds);
    return new Admission(account.user(), Optional.of(until), Optional.of(account.salt()));
  }

  private long secondsLeft(SessionCookie cookie) {
    return cookie.seconds() + settings.get().seconds() - clock.instant().getEpochSecond();
  }

  /** Returns the value of a {@code Set-Cookie} that begins a session. */
  String begin(NamedAccount account, byte[] secret, boolean isSecure) {
    return header.with(SessionCookie.of(account, clock.instant(), secret).value(), isSecure);
  }

  /** Returns the value of a {@code Set-Cookie} that ends it. */
  String end(boolean isSecure) {
    return header.with("", isSecure);
  }
}
