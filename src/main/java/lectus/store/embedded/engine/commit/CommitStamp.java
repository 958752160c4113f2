package lectus.store.embedded.engine.commit;

import java.util.Arrays;

/**
 * Writes a commit's 10-byte versionstamp into a template (docs/foundationdb-contract.md, section
 * 7).
 *
 * <pre>
 * template: prefix, 10 bytes to be replaced, suffix, offset of the 10 bytes (4 bytes little-endian)
 * stamp:    commit version (8 bytes big-endian), batch order (2 bytes big-endian)
 * </pre>
 */
public final class CommitStamp {
  /** The length of a versionstamp without the two bytes of the user version. */
  public static final int STAMP_BYTES = 10;

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
    byte[] resolved = Arrays.copyOf(template, template.length - OFFSET_BYTES);
    write(version, batchOrder, resolved, offset(template));
    return resolved;
  }

  private static int offset(byte[] template) {
    int end = template.length;
    return (template[end - 4] & 0xFF)
        | (template[end - 3] & 0xFF) << 8
        | (template[end - 2] & 0xFF) << 16
        | (template[end - 1] & 0xFF) << 24;
  }

  private static void write(long version, int batchOrder, byte[] target, int offset) {
    for (int i = 0; i < Long.BYTES; i++) {
      target[offset + i] = (byte) (version >>> (8 * (Long.BYTES - 1 - i)));
    }
    target[offset + 8] = (byte) (batchOrder >>> 8);
    target[offset + 9] = (byte) batchOrder;
  }
}
