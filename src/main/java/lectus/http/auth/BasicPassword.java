package lectus.http.auth;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import lectus.error.LectusException;

/** A name and a password in a header (RFC 7617). */
record BasicPassword(String name, String password) {
  /** What browsers are made to send to forget a password. */
  private static final BasicPassword LOGGED_OUT = new BasicPassword("_", "_");

  /**
   * @param encoded what follows the name of the scheme
   * @return empty if it is no pair, or the one that stands for nobody
   * @throws LectusException {@code bad_request}: not Base64; {@code unauthorized}: nobody has a
   *     name or password that is not UTF-8
   */
  static Optional<BasicPassword> parse(String encoded) {
    String pair = text(decoded(encoded));
    int colon = pair.indexOf(':');
    return colon < 0
        ? Optional.empty()
        : Optional.of(new BasicPassword(pair.substring(0, colon), pair.substring(colon + 1)))
            .filter(given -> !given.equals(LOGGED_OUT));
  }

  private static byte[] decoded(String encoded) {
    try {
      return Base64.getDecoder().decode(encoded);
    } catch (IllegalArgumentException notBase64) {
      throw LectusException.badRequest("Authorization header has invalid base64 value");
    }
  }

  private static String text(byte[] utf8) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    } catch (CharacterCodingException nobodys) {
      throw PasswordLogIn.incorrect();
    }
  }

  /** Without the password, which must not get into a log. */
  @Override
  public String toString() {
    return "BasicPassword[name=" + name + "]";
  }
}
