package lectus.store;

import java.util.Arrays;
import lectus.tuple.TupleWriter;

/**
 * Builds operands of versionstamped operations by hand, because packing an incomplete {@code
 * Versionstamp} with fdb-java's tuple layer loads its native library.
 *
 * <p>A versionstamp has 12 bytes: commit version (8, big-endian) and batch order (2, big-endian),
 * which the store fills in at commit, then the user version (2, big-endian).
 */
public final class VersionstampOperands {
  /** The length of a versionstamp with its user version, in bytes. */
  public static final int LENGTH = 12;

  /** The number of bytes that the store fills in. */
  public static final int TRANSACTION_LENGTH = 10;

  private static final int OFFSET_LENGTH = 4;
  private static final int MAX_USER_VERSION = 0xffff;

  private VersionstampOperands() {}

  /** Returns ten FF bytes for the store to fill in, then the user version (0 to 65 535). */
  public static byte[] placeholder(int userVersion) {
    byte[] stamp = new byte[LENGTH];
    Arrays.fill(stamp, 0, TRANSACTION_LENGTH, (byte) 0xff);
    putUserVersion(stamp, userVersion);
    return stamp;
  }

  /** Returns the versionstamp that replaces a placeholder with this user version. */
  public static byte[] complete(byte[] transactionVersionstamp, int userVersion) {
    if (transactionVersionstamp.length != TRANSACTION_LENGTH) {
      throw new IllegalArgumentException("A transaction's versionstamp has 10 bytes");
    }
    byte[] stamp = Arrays.copyOf(transactionVersionstamp, LENGTH);
    putUserVersion(stamp, userVersion);
    return stamp;
  }

  /**
   * Returns the operand of SET_VERSIONSTAMPED_VALUE or the key of SET_VERSIONSTAMPED_KEY: {@code
   * bytes} followed by the offset of the 12-byte placeholder in them (4 bytes, little-endian).
   */
  public static byte[] template(byte[] bytes, int placeholderOffset) {
    if (placeholderOffset < 0 || placeholderOffset > bytes.length - LENGTH) {
      throw new IllegalArgumentException(
          "No versionstamp at " + placeholderOffset + " of " + bytes.length + " bytes");
    }
    byte[] template = Arrays.copyOf(bytes, bytes.length + OFFSET_LENGTH);
    for (int i = 0; i < OFFSET_LENGTH; i++) {
      template[bytes.length + i] = (byte) (placeholderOffset >>> (8 * i));
    }
    return template;
  }

  /**
   * Returns the operand of a tuple with the versionstamp appended as its last element.
   *
   * @param userVersion 0 to 65 535
   */
  public static byte[] template(TupleWriter tuple, int userVersion) {
    int offset = append(tuple, userVersion);
    return template(tuple.toBytes(), offset);
  }

  /** Returns the operand of {@code head} with the versionstamp appended. */
  public static byte[] templateBehind(byte... head) {
    byte[] bytes = Arrays.copyOf(head, head.length + LENGTH);
    System.arraycopy(placeholder(0), 0, bytes, head.length, LENGTH);
    return template(bytes, head.length);
  }

  /**
   * Appends a placeholder to a tuple, as an element.
   *
   * @param userVersion 0 to 65 535
   * @return the placeholder's offset in the tuple's bytes
   */
  public static int append(TupleWriter tuple, int userVersion) {
    int typeCode = 1;
    int offset = tuple.length() + typeCode;
    tuple.versionstamp(placeholder(userVersion));
    return offset;
  }

  private static void putUserVersion(byte[] stamp, int userVersion) {
    if (userVersion < 0 || userVersion > MAX_USER_VERSION) {
      throw new IllegalArgumentException("Not a user version: " + userVersion);
    }
    stamp[TRANSACTION_LENGTH] = (byte) (userVersion >>> 8);
    stamp[TRANSACTION_LENGTH + 1] = (byte) userVersion;
  }
}
