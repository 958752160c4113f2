package lectus.store;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import lectus.json.TupleWriter;

/**
 * A point in the order of all commits of a store: the 12 bytes of a complete versionstamp. They are
 * the commit version (8, big-endian) and the batch order (2, big-endian), which the store fills in
 * at commit, then the user version (2, big-endian), which numbers the transaction's writes.
 *
 * <p>The operands of versionstamped operations are built here, too, because packing an incomplete
 * {@code Versionstamp} with fdb-java's tuple layer loads its native library.
 */
public record Versionstamp(byte[] bytes) implements Comparable<Versionstamp> {
  /** The length of a versionstamp with its user version, in bytes. */
  public static final int LENGTH = 12;

  /** The number of bytes that the store fills in. */
  public static final int TRANSACTION_LENGTH = 10;

  private static final int OFFSET_LENGTH = 4;
  private static final int MAX_USER_VERSION = 0xffff;

  /** Before every commit. */
  public static final Versionstamp ZERO = new Versionstamp(new byte[LENGTH]);

  /** After every commit. */
  public static final Versionstamp END = upTo(-1);

  public Versionstamp {
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException("A versionstamp has 12 bytes");
    }
  }

  /**
   * @param commit the transaction's 10 bytes
   */
  public static Versionstamp of(byte[] commit) {
    return new Versionstamp(complete(commit, 0));
  }

  /** Returns the point after every commit visible at this read version and before all others. */
  public static Versionstamp upTo(long readVersion) {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, (byte) 0xff);
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[i] = (byte) (readVersion >>> (Long.SIZE - Byte.SIZE * (i + 1)));
    }
    return new Versionstamp(bytes);
  }

  /** Returns empty for anything that {@link #toString} did not print. */
  public static Optional<Versionstamp> parse(String printed) {
    if (printed.length() != 2 * LENGTH || !isLowerHex(printed)) {
      return Optional.empty();
    }
    return Optional.of(new Versionstamp(HexFormat.of().parseHex(printed)));
  }

  private static boolean isLowerHex(String text) {
    return text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }

  public long version() {
    long version = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      version = version << Byte.SIZE | (bytes[i] & 0xff);
    }
    return version;
  }

  public Versionstamp startOfCommit() {
    return of(Arrays.copyOf(bytes, TRANSACTION_LENGTH));
  }

  public Versionstamp endOfCommit() {
    byte[] end = bytes.clone();
    Arrays.fill(end, TRANSACTION_LENGTH, end.length, (byte) 0xff);
    return new Versionstamp(end);
  }

  public Versionstamp predecessor() {
    byte[] before = bytes.clone();
    int at = before.length - 1;
    while (at >= 0 && before[at]-- == 0) {
      at--;
    }
    if (at < 0) {
      throw new IllegalArgumentException("Nothing comes before the first versionstamp");
    }
    return new Versionstamp(before);
  }

  /** Returns the point immediately after this one. {@link #END} is its own successor. */
  public Versionstamp successor() {
    byte[] behind = bytes.clone();
    int at = behind.length - 1;
    while (at >= 0 && ++behind[at] == 0) {
      at--;
    }
    return at < 0 ? END : new Versionstamp(behind);
  }

  @Override
  public int compareTo(Versionstamp other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Versionstamp that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** Returns 24 lower-case hex digits, which sort as versionstamps do. */
  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }

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
    int offset = tuple.length() + 1;
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
