package lectus.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

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
