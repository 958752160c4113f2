package lectus.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.database.UserContext;
import lectus.database.Whereabouts.Secret;
import lectus.error.LectusException;

/** Signatures with a secret (RFC 2104), compared in a time that says nothing of them. */
public final class Signatures {
  private static final String SHA_256 = "HmacSHA256";
  private static final String SHA_1 = "HmacSHA1";

  /** The hex digits of a signature with SHA-1, which proxies of older days send. */
  private static final int SHA_1_DIGITS = 40;

  private Signatures() {}

  public static byte[] sign(String text, byte[] secret) {
    return sign(SHA_256, text.getBytes(StandardCharsets.UTF_8), secret);
  }

  /** Returns the signature that {@link #isSigned} accepts, in hex digits. */
  public static String sign(byte[] text, String secret) {
    return HexFormat.of().formatHex(sign(SHA_256, text, secret.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * @param signature in hex digits
   */
  public static boolean isSigned(byte[] text, String secret, String signature) {
    String algorithm = signature.length() == SHA_1_DIGITS ? SHA_1 : SHA_256;
    byte[] expected = sign(algorithm, text, secret.getBytes(StandardCharsets.UTF_8));
    try {
      return MessageDigest.isEqual(expected, HexFormat.of().parseHex(signature));
    } catch (IllegalArgumentException notHex) {
      return false;
    }
  }

  /**
   * Returns the headers with which a place says who asks, in CouchDB's way of proxies, at the place
   * that a database of its own has moved to. They say of nobody, too, that it is nobody: the other
   * place may take whoever says nothing for its admin.
   *
   * @throws LectusException {@code forbidden}: nobody can vouch for a name that is another one
   *     behind a parser
   */
  public static Map<String, String> vouch(UserContext user, Secret secret) {
    String name = user.name().orElse("");
    if (!isSendable(name)) {
      throw LectusException.forbidden(
          "The database has moved, and nobody can vouch there for a name with control"
              + " characters, or with spaces at an end.");
    }
    String roles =
        user.roles().stream()
            .filter(role -> isSendable(role) && role.indexOf(',') < 0)
            .sorted()
            .collect(Collectors.joining(","));
    return Map.of(
        Headers.PROXIED_NAME.toString(), Headers.octets(name),
        Headers.PROXIED_ROLES.toString(), Headers.octets(roles),
        Headers.PROXIED_TOKEN.toString(),
            sign(name.getBytes(StandardCharsets.UTF_8), secret.text()));
  }

  /** Parsers take spaces at the ends of a header for none of it. */
  private static boolean isSendable(String text) {
    return text.strip().equals(text) && text.chars().noneMatch(Character::isISOControl);
  }

  private static byte[] sign(String algorithm, byte[] text, byte[] secret) {
    try {
      Mac mac = Mac.getInstance(algorithm);
      mac.init(new SecretKeySpec(secret, algorithm));
      return mac.doFinal(text);
    } catch (GeneralSecurityException absent) {
      throw new IllegalStateException(absent);
    }
  }
}
