package lectus.attachment;

import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;

/**
 * What a content is stored under: the SHA-256 of its bytes as they are stored.
 *
 * @param hex 64 lower-case hex digits
 */
public record ContentId(String hex) {
  private static final int BYTES = 32;
  private static final String PREFIX = "sha256-";

  public static ContentId of(byte[] sha256) {
    if (sha256.length != BYTES) {
      throw new IllegalArgumentException("Not a SHA-256: " + sha256.length + " bytes");
    }
    return new ContentId(HexFormat.of().formatHex(sha256));
  }

  /** Reads {@code sha256-} and base64, as documents have it; empty if it is none. */
  public static Optional<ContentId> ofDigest(String digest) {
    try {
      byte[] bytes =
          digest.startsWith(PREFIX)
              ? Base64.getDecoder().decode(digest.substring(PREFIX.length()))
              : new byte[0];
      return bytes.length == BYTES ? Optional.of(of(bytes)) : Optional.empty();
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  /** Returns what {@link #ofDigest} reads. */
  public String digest() {
    return PREFIX + base64();
  }

  public String base64() {
    return Base64.getEncoder().encodeToString(bytes());
  }

  public byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }
}
