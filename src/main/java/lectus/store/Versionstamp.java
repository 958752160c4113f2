package lectus.store;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * A point in the order of all commits of a store: the 12 bytes of a complete versionstamp. Ten are
 * the transaction's, and two number its writes.
 */
public record Versionstamp(byte[] bytes) implements Comparable<Versionstamp> {
  /** Before every commit. */
  public static final Versionstamp ZERO = new Versionstamp(new byte[VersionstampOperands.LENGTH]);

  /** After every commit. */
  public static final Versionstamp END = upTo(-1);

  public Versionstamp {
    if (bytes.length != VersionstampOperands.LENGTH) {
      throw new IllegalArgumentException("A versionstamp has 12 bytes");
    }
  }

  /**
   * @param commit the transaction's 10 bytes
   */
  public static Versionstamp of(byte[] commit) {
    return new Versionstamp(VersionstampOperands.complete(commit, 0));
  }

  /** Returns the point after every commit visible at this read version and before all others. */
  public static Versionstamp upTo(long readVersion) {
    byte[] bytes = new byte[VersionstampOperands.LENGTH];
    Arrays.fill(bytes, (byte) 0xff);
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[i] = (byte) (readVersion >>> (Long.SIZE - Byte.SIZE * (i + 1)));
    }
    return new Versionstamp(bytes);
  }

  /** Returns empty for anything that {@link #toString} did not print. */
  public static Optional<Versionstamp> parse(String printed) {
    if (printed.length() != 2 * VersionstampOperands.LENGTH || !isLowerHex(printed)) {
      return Optional.empty();
    }
    return Optional.of(new Versionstamp(HexFormat.of().parseHex(printed)));
  }

  private static boolean isLowerHex(String text) {
    return text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }

  /** Returns the version of the commit. */
  public long version() {
    long version = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      version = version << Byte.SIZE | (bytes[i] & 0xff);
    }
    return version;
  }

  /** Returns the first point of the same commit. */
  public Versionstamp startOfCommit() {
    return of(Arrays.copyOf(bytes, VersionstampOperands.TRANSACTION_LENGTH));
  }

  /** Returns the last point of the same commit. */
  public Versionstamp endOfCommit() {
    byte[] end = bytes.clone();
    Arrays.fill(end, VersionstampOperands.TRANSACTION_LENGTH, end.length, (byte) 0xff);
    return new Versionstamp(end);
  }

  /** Returns the point immediately before this one. */
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
}
