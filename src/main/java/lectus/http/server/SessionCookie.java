package lectus.http.server;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * The cookie that clients look for when they have logged in, in CouchDB's form. It holds the name
 * that they gave and no signature, since nothing depends on it; so it does not expire either.
 */
final class SessionCookie {
  /** Takes the cookie away. */
  static final String NONE = with("");

  private static final Base64.Encoder BASE_64 = Base64.getUrlEncoder().withoutPadding();

  private SessionCookie() {}

  /** A {@code Set-Cookie}. */
  static String of(String name) {
    byte[] session = (name + "::").getBytes(StandardCharsets.UTF_8);
    return with(BASE_64.encodeToString(session));
  }

  private static String with(String value) {
    return "AuthSession=" + value + "; Version=1; Path=/; HttpOnly";
  }
}
