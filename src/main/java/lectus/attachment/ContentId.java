package lectus.attachment;

import java.util.HexFormat;

/**
 * What a content is stored under: the SHA-256 of its bytes as they are stored.
 *
 * @param hex 64 lower-case hex digits
 */
public record ContentId(String hex) {
  private static final int BYTES = 32;

  public static ContentId of(byte[] sha256) {
    if (sha256.length != BYTES) {
      throw new IllegalArgumentException("Not a SHA-256: " + sha256.length + " bytes");
    }
    return new ContentId(HexFormat.of().formatHex(sha256));
  }

  public byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }
}
