package lectus.http.server;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * The cookie that clients look for when they have logged in, in CouchDB's form. It holds the name
 * that they gave and no signature, since nothing depends on it; so it does not expire either.
 */
final class SessionCookie {
  private static final String NAME = "AuthSession=";

  /** Takes the cookie away. */
  static final String NONE = with("");

  /** Where CouchDB has the time and a signature. */
  private static final String NO_TIME_NO_SIGNATURE = "::";

  private static final Base64.Encoder BASE_64 = Base64.getUrlEncoder().withoutPadding();

  private SessionCookie() {}

  /** A {@code Set-Cookie}. */
  static String of(String name) {
    byte[] session = (name + NO_TIME_NO_SIGNATURE).getBytes(StandardCharsets.UTF_8);
    return with(BASE_64.encodeToString(session));
  }

  /**
   * The name in the cookie, if it is one of ours.
   *
   * @param cookies a header {@code Cookie}
   */
  static Optional<String> name(String cookies) {
    return Arrays.stream(cookies.split(";"))
        .map(String::trim)
        .filter(cookie -> cookie.startsWith(NAME))
        .findFirst()
        .flatMap(
            cookie -> ClaimedName.text(Base64.getUrlDecoder(), cookie.substring(NAME.length())))
        .filter(session -> session.endsWith(NO_TIME_NO_SIGNATURE))
        .map(session -> session.substring(0, session.length() - NO_TIME_NO_SIGNATURE.length()));
  }

  private static String with(String value) {
    return NAME + value + "; Version=1; Path=/; HttpOnly";
  }
}
