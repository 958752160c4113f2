package lectus.attachment;

import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;

/**
 * An MD5 of bytes.
 *
 * @param hex 32 lower-case hex digits
 */
public record Md5(String hex) {
  private static final String PREFIX = "md5-";
  private static final int BYTES = 16;

  public static Md5 of(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("Not an MD5: " + bytes.length + " bytes");
    }
    return new Md5(HexFormat.of().formatHex(bytes));
  }

  /** Reads what {@code Content-MD5} has; empty if it is none. */
  public static Optional<Md5> ofBase64(String base64) {
    try {
      byte[] bytes = Base64.getDecoder().decode(base64);
      return bytes.length == BYTES ? Optional.of(of(bytes)) : Optional.empty();
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  /** Reads what {@code digest} has in documents; empty if it is none, or of another kind. */
  public static Optional<Md5> ofDigest(String digest) {
    return digest.startsWith(PREFIX)
        ? ofBase64(digest.substring(PREFIX.length()))
        : Optional.empty();
  }

  public byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }

  public String base64() {
    return Base64.getEncoder().encodeToString(bytes());
  }

  /** Returns what documents show, such as {@code md5-1B2M2Y8AsgTpgAmY7PhCfg==}. */
  public String digest() {
    return PREFIX + base64();
  }
}
