package lectus.http.auth;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures with a secret (RFC 2104), compared in a time that says nothing of them. */
final class Signatures {
  private static final String SHA_256 = "HmacSHA256";
  private static final String SHA_1 = "HmacSHA1";

  /** The hex digits of a signature with SHA-1, which proxies of older days send. */
  private static final int SHA_1_DIGITS = 40;

  private Signatures() {}

  static byte[] sign(String text, byte[] secret) {
    return sign(SHA_256, text.getBytes(StandardCharsets.UTF_8), secret);
  }

  /**
   * @param signature in hex digits
   */
  static boolean isSigned(byte[] text, String secret, String signature) {
    String algorithm = signature.length() == SHA_1_DIGITS ? SHA_1 : SHA_256;
    byte[] expected = sign(algorithm, text, secret.getBytes(StandardCharsets.UTF_8));
    try {
      return MessageDigest.isEqual(expected, HexFormat.of().parseHex(signature));
    } catch (IllegalArgumentException notHex) {
      return false;
    }
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
