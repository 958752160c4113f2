package lectus.store.embedded.engine;

import java.util.Arrays;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.CommitRequest.KeyRange;

/**
 * The key or value of a versionstamped operation, and the 10-byte versionstamp of a commit that is
 * written into it (docs/foundationdb-contract.md, section 7).
 *
 * <pre>
 * template: prefix, 10 bytes to be replaced, suffix, offset of the 10 bytes (4 bytes little-endian)
 * stamp:    commit version (8 bytes big-endian), batch order (2 bytes big-endian)
 * </pre>
 */
public final class CommitStamp {
  /** The length of a versionstamp without the two bytes of the user version. */
  private static final int STAMP_BYTES = 10;

  private static final int OFFSET_BYTES = 4;

  private CommitStamp() {}

  /**
   * Returns the stamp of the transaction at {@code batchOrder} among the commits of {@code
   * version}.
   */
  public static byte[] stamp(long version, int batchOrder) {
    byte[] stamp = new byte[STAMP_BYTES];
    write(version, batchOrder, stamp, 0);
    return stamp;
  }

  /** Returns the template with the stamp in its place and without the offset. */
  static byte[] resolve(byte[] template, long version, int batchOrder) {
    int offset = offset(template);
    byte[] resolved = Arrays.copyOf(template, template.length - OFFSET_BYTES);
    write(version, batchOrder, resolved, offset);
    return resolved;
  }

  /**
   * Returns the offset of the stamp.
   *
   * @throws com.apple.foundationdb.FDBException 2000 if the stamp does not fit there
   */
  public static int offset(byte[] template) {
    int end = template.length - OFFSET_BYTES;
    if (end < 0) {
      throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
    }
    int offset =
        (template[end] & 0xFF)
            | (template[end + 1] & 0xFF) << 8
            | (template[end + 2] & 0xFF) << 16
            | template[end + 3] << 24;
    if (offset < 0 || offset > end - STAMP_BYTES) {
      throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
    }
    return offset;
  }

  /**
   * Returns the template with the lowest stamp its commit can get: batch order 0 of {@code
   * version}.
   */
  public static byte[] withLowestStamp(byte[] template, long version) {
    byte[] filled = template.clone();
    write(version, 0, filled, offset(template));
    return filled;
  }

  /**
   * Returns the range of possible final keys: {@code [prefix‖stamp(version)‖suffix,
   * prefix‖FF×10‖suffix‖00)}.
   */
  public static KeyRange place(byte[] template, long version, byte[] keysEnd) {
    byte[] lowest = resolve(template, version, 0);
    byte[] behindHighest = Arrays.copyOf(lowest, lowest.length + 1);
    int offset = offset(template);
    Arrays.fill(behindHighest, offset, offset + STAMP_BYTES, (byte) 0xFF);
    return new KeyRange(
        lowest, Arrays.compareUnsigned(behindHighest, keysEnd) <= 0 ? behindHighest : keysEnd);
  }

  private static void write(long version, int batchOrder, byte[] target, int offset) {
    for (int i = 0; i < Long.BYTES; i++) {
      target[offset + i] = (byte) (version >>> (8 * (Long.BYTES - 1 - i)));
    }
    target[offset + 8] = (byte) (batchOrder >>> 8);
    target[offset + 9] = (byte) batchOrder;
  }
}
