package lectus.http.access;

import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Supplier;
import lectus.http.CookieSettings;

/**
 * The attributes with which clients keep a session's cookie, written as CouchDB writes them: nano
 * looks for the moment when it expires.
 */
final class CookieHeader {
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd-MMM-yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private final Supplier<CookieSettings> settings;
  private final InstantSource clock;

  CookieHeader(Supplier<CookieSettings> settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
  }

  /**
   * Returns the value of a {@code Set-Cookie}.
   *
   * @param value empty to remove the cookie
   * @param isSecure whether the client came over TLS; then it is never sent without
   */
  String with(String value, boolean isSecure) {
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
}
