package lectus.http.access;

import lectus.http.CookieSettings;

/** The attributes with which browsers keep a session's cookie. */
final class CookieHeader {
  private final CookieSettings settings;

  CookieHeader(CookieSettings settings) {
    this.settings = settings;
  }

  /**
   * Returns the value of a {@code Set-Cookie}.
   *
   * @param value empty to remove the cookie
   * @param isSecure whether the client came over TLS; then it is never sent without
   */
  String with(String value, boolean isSecure) {
    StringBuilder cookie = new StringBuilder(SessionCookie.NAME).append('=').append(value);
    cookie.append("; Version=1");
    if (settings.persistent()) {
      cookie.append("; Max-Age=").append(value.isEmpty() ? 0 : settings.seconds());
    }
    if (isSecure) {
      cookie.append("; Secure");
    }
    settings.domain().ifPresent(domain -> cookie.append("; Domain=").append(domain));
    cookie.append("; Path=/; HttpOnly");
    settings.sameSite().ifPresent(site -> cookie.append("; SameSite=").append(site));
    return cookie.toString();
  }
}
