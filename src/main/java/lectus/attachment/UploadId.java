package lectus.attachment;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * What the chunks of a content are stored under. Their hash is known only when the last one has
 * come.
 *
 * @param hex 32 hex digits
 */
public record UploadId(String hex) {
  private static final int BYTES = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  static UploadId random() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return of(bytes);
  }

  public static UploadId of(byte[] bytes) {
    return new UploadId(HexFormat.of().formatHex(bytes));
  }

  byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }
}
