package lectus.http.auth;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import lectus.account.Accounts.NamedAccount;
import lectus.error.LectusException;
import lectus.http.Signatures;

/**
 * The cookie of a session, in CouchDB's form: the name, the time in hex digits and a signature,
 * with colons between them, in Base64. Whoever knows the store's secret and the account's salt has
 * signed it, so a new password ends all sessions, and every server of the store takes it.
 *
 * @param seconds since 1970, when it was made
 */
record SessionCookie(String name, long seconds, byte[] signature) {
  static final String NAME = "AuthSession";

  private static final int SIGNATURE_BYTES = 32;
  private static final int LONGEST_TIME = 15;
  private static final int HEXADECIMAL = 16;

  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  /**
   * Returns the value of the cookie in a header.
   *
   * @param cookies a header {@code Cookie}; null if there is none
   */
  static Optional<String> in(String cookies) {
    if (cookies == null) {
      return Optional.empty();
    }
    String start = NAME + '=';
    return Arrays.stream(cookies.split(";"))
        .map(String::strip)
        .filter(cookie -> cookie.startsWith(start))
        .map(cookie -> unquoted(cookie.substring(start.length())))
        .findFirst()
        .filter(value -> !value.isEmpty());
  }

  private static String unquoted(String value) {
    boolean isQuoted = value.length() > 1 && value.startsWith("\"") && value.endsWith("\"");
    return isQuoted ? value.substring(1, value.length() - 1) : value;
  }

  static SessionCookie of(NamedAccount account, Instant now, byte[] secret) {
    String name = account.user().name().orElseThrow();
    long seconds = now.getEpochSecond();
    return new SessionCookie(name, seconds, sign(name, seconds, account.salt(), secret));
  }

  /**
   * Reads a cookie's value.
   *
   * @return empty if nobody can have signed it
   * @throws LectusException {@code bad_request}: it is no cookie of this kind
   */
  static Optional<SessionCookie> parse(String value) {
    byte[] bytes = decoded(value);
    int colons = 0;
    for (byte b : bytes) {
      colons += b == ':' ? 1 : 0;
    }
    if (colons < 2) {
      throw malformed();
    }
    int end = bytes.length - SIGNATURE_BYTES - 1;
    return end > 0 && bytes[end] == ':' ? ofText(bytes, end) : Optional.empty();
  }

  /** A name may have colons, a time has none. */
  private static Optional<SessionCookie> ofText(byte[] bytes, int end) {
    try {
      String text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, end)).toString();
      int colon = text.lastIndexOf(':');
      String time = text.substring(colon + 1);
      if (colon < 1 || time.length() > LONGEST_TIME) {
        return Optional.empty();
      }
      byte[] signature = Arrays.copyOfRange(bytes, end + 1, bytes.length);
      return Optional.of(
          new SessionCookie(
              text.substring(0, colon), Long.parseLong(time, HEXADECIMAL), signature));
    } catch (CharacterCodingException | NumberFormatException foreign) {
      return Optional.empty();
    }
  }

  private static byte[] decoded(String value) {
    try {
      return Base64.getUrlDecoder().decode(value);
    } catch (IllegalArgumentException notBase64) {
      throw malformed();
    }
  }

  private static LectusException malformed() {
    return LectusException.badRequest("Malformed AuthSession cookie. Please clear your cookies.");
  }

  /** Whether it was made for the account as it is now. */
  boolean isOf(NamedAccount account, byte[] secret) {
    return MessageDigest.isEqual(sign(name, seconds, account.salt(), secret), signature);
  }

  private static byte[] sign(String name, long seconds, String salt, byte[] secret) {
    byte[] extra = salt.getBytes(StandardCharsets.UTF_8);
    byte[] key = Arrays.copyOf(secret, secret.length + extra.length);
    System.arraycopy(extra, 0, key, secret.length, extra.length);
    return Signatures.sign(signed(name, seconds), key);
  }

  private static String signed(String name, long seconds) {
    return name + ':' + Long.toHexString(seconds).toUpperCase(Locale.ROOT);
  }

  String value() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes((signed(name, seconds) + ':').getBytes(StandardCharsets.UTF_8));
    bytes.writeBytes(signature);
    return ENCODER.encodeToString(bytes.toByteArray());
  }
}
