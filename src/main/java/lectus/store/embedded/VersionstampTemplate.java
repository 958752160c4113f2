package lectus.store.embedded;

import java.util.Arrays;
import lectus.store.embedded.engine.commit.CommitStamp;
import lectus.store.embedded.engine.commit.KeyRange;

/**
 * The key or value of a versionstamped operation: bytes with a placeholder for the 10-byte stamp,
 * then the placeholder's offset in 4 bytes, little-endian.
 */
final class VersionstampTemplate {
  private static final int STAMP_BYTES = CommitStamp.STAMP_BYTES;
  private static final int VERSION_BYTES = 8;
  private static final int OFFSET_BYTES = 4;

  private VersionstampTemplate() {}

  /**
   * Returns the offset of the stamp.
   *
   * @throws com.apple.foundationdb.FDBException 2000 if the stamp does not fit there
   */
  static int offset(byte[] template) {
    int end = template.length - OFFSET_BYTES;
    if (end < 0) {
      throw StoreError.CLIENT_INVALID_OPERATION.exception();
    }
    int offset =
        (template[end] & 0xFF)
            | (template[end + 1] & 0xFF) << 8
            | (template[end + 2] & 0xFF) << 16
            | template[end + 3] << 24;
    if (offset < 0 || offset > end - STAMP_BYTES) {
      throw StoreError.CLIENT_INVALID_OPERATION.exception();
    }
    return offset;
  }

  /**
   * Returns the template with the lowest stamp its commit can get: batch order 0 of {@code
   * version}.
   */
  static byte[] withLowestStamp(byte[] template, long version) {
    byte[] filled = template.clone();
    place(filled, offset(template), version);
    return filled;
  }

  /**
   * Returns the range of possible final keys: {@code [prefix‖stamp(version)‖suffix,
   * prefix‖FF×10‖suffix‖00)}.
   */
  static KeyRange place(byte[] template, long version, byte[] keysEnd) {
    int offset = offset(template);
    int length = template.length - OFFSET_BYTES;
    byte[] lowest = Arrays.copyOf(template, length);
    place(lowest, offset, version);
    byte[] behindHighest = Arrays.copyOf(template, length + 1);
    Arrays.fill(behindHighest, offset, offset + STAMP_BYTES, (byte) 0xFF);
    behindHighest[length] = 0;
    return new KeyRange(lowest, KeySpace.min(behindHighest, keysEnd));
  }

  private static void place(byte[] into, int offset, long version) {
    for (int i = 0; i < VERSION_BYTES; i++) {
      into[offset + i] = (byte) (version >>> (8 * (VERSION_BYTES - 1 - i)));
    }
    Arrays.fill(into, offset + VERSION_BYTES, offset + STAMP_BYTES, (byte) 0);
  }
}
