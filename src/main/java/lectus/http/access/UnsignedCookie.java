package lectus.http.access;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * The cookie that clients expect after a log-in, from a server without admins, in CouchDB's form.
 * It holds the given name and no signature, since nothing depends on it; so it does not expire
 * either.
 */
final class UnsignedCookie {
  private static final String NAME = SessionCookie.NAME + "=";

  /** A cookie that removes it. */
  static final String NONE = with("");

  /** The place of CouchDB's time and signature. */
  private static final String NO_TIME_NO_SIGNATURE = "::";

  private static final Base64.Encoder BASE_64 = Base64.getUrlEncoder().withoutPadding();

  private UnsignedCookie() {}

  /** Returns the value of a {@code Set-Cookie}. */
  static String of(String name) {
    byte[] session = (name + NO_TIME_NO_SIGNATURE).getBytes(StandardCharsets.UTF_8);
    return with(BASE_64.encodeToString(session));
  }

  /**
   * Returns the name in the cookie, if it is one of ours.
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
