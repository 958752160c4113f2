package lectus.store;

import java.util.Arrays;
import lectus.tuple.TupleWriter;

/**
 * Operands of versionstamped operations, built by hand: packing an incomplete {@code Versionstamp}
 * with fdb-java's tuple layer loads its native library.
 *
 * <p>A versionstamp has 12 bytes: commit version (8, big-endian) and batch order (2, big-endian),
 * which the store fills in when it commits, then the user version (2, big-endian).
 */
public final class Versionstamps {
  /** Bytes of a versionstamp with its user version. */
  public static final int LENGTH = 12;

  /** Bytes that the store fills in. */
  public static final int TRANSACTION_LENGTH = 10;

  private static final int OFFSET_LENGTH = 4;
  private static final int MAX_USER_VERSION = 0xffff;

  private Versionstamps() {}

  /** Ten FF bytes in place of what the store fills in, then the user version (0 to 65 535). */
  public static byte[] placeholder(int userVersion) {
    byte[] stamp = new byte[LENGTH];
    Arrays.fill(stamp, 0, TRANSACTION_LENGTH, (byte) 0xff);
    putUserVersion(stamp, userVersion);
    return stamp;
  }

  /** What a placeholder with this user version became in a transaction of that versionstamp. */
  public static byte[] complete(byte[] transactionVersionstamp, int userVersion) {
    if (transactionVersionstamp.length != TRANSACTION_LENGTH) {
      throw new IllegalArgumentException("A transaction's versionstamp has 10 bytes");
    }
    byte[] stamp = Arrays.copyOf(transactionVersionstamp, LENGTH);
    putUserVersion(stamp, userVersion);
    return stamp;
  }

  /**
   * The operand of SET_VERSIONSTAMPED_VALUE, or the key of SET_VERSIONSTAMPED_KEY: {@code bytes}
   * followed by where in them the 12-byte placeholder begins (4 bytes, little-endian).
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
   * The same of a tuple whose last element is to be the versionstamp, which is appended.
   *
   * @param userVersion 0 to 65 535
   */
  public static byte[] template(TupleWriter tuple, int userVersion) {
    int offset = append(tuple, userVersion);
    return template(tuple.toBytes(), offset);
  }

  /** The same of bytes with the versionstamp behind them. */
  public static byte[] templateBehind(byte... head) {
    byte[] bytes = Arrays.copyOf(head, head.length + LENGTH);
    System.arraycopy(placeholder(0), 0, bytes, head.length, LENGTH);
    return template(bytes, head.length);
  }

  /**
   * Appends a placeholder to a tuple, as an element.
   *
   * @param userVersion 0 to 65 535
   * @return where in the tuple's bytes it begins
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
