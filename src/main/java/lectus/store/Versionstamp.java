package lectus.store;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * A point in the order of all commits of a store: the 12 bytes of a complete versionstamp, 10 of
 * the transaction and 2 that number what it wrote.
 */
public record Versionstamp(byte[] bytes) implements Comparable<Versionstamp> {
  /** Before every commit. */
  public static final Versionstamp ZERO = new Versionstamp(new byte[Versionstamps.LENGTH]);

  /** Behind every commit. */
  public static final Versionstamp END = upTo(-1);

  public Versionstamp {
    if (bytes.length != Versionstamps.LENGTH) {
      throw new IllegalArgumentException("A versionstamp has 12 bytes");
    }
  }

  /**
   * @param commit the 10 bytes that the store gave the transaction
   */
  public static Versionstamp of(byte[] commit) {
    return new Versionstamp(Versionstamps.complete(commit, 0));
  }

  /** Behind every commit that a transaction of this read version sees, before all others. */
  public static Versionstamp upTo(long readVersion) {
    byte[] bytes = new byte[Versionstamps.LENGTH];
    Arrays.fill(bytes, (byte) 0xff);
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[i] = (byte) (readVersion >>> (Long.SIZE - Byte.SIZE * (i + 1)));
    }
    return new Versionstamp(bytes);
  }

  /** Empty for anything that was not printed by {@link #toString}. */
  public static Optional<Versionstamp> parse(String printed) {
    if (printed.length() != 2 * Versionstamps.LENGTH || !isLowerHex(printed)) {
      return Optional.empty();
    }
    return Optional.of(new Versionstamp(HexFormat.of().parseHex(printed)));
  }

  private static boolean isLowerHex(String text) {
    return text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }

  /** The first point of the same commit. */
  public Versionstamp startOfCommit() {
    return of(Arrays.copyOf(bytes, Versionstamps.TRANSACTION_LENGTH));
  }

  /** The last point of the same commit. */
  public Versionstamp endOfCommit() {
    byte[] end = bytes.clone();
    Arrays.fill(end, Versionstamps.TRANSACTION_LENGTH, end.length, (byte) 0xff);
    return new Versionstamp(end);
  }

  /** The point right before this one. */
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

  /** The point right behind this one; behind {@link #END} nothing comes but itself. */
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

  /** 24 lower-case hex digits, which sort as versionstamps do. */
  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}
