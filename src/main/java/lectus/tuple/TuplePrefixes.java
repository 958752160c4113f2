package lectus.tuple;

import java.util.Arrays;

/** Compares tuples by their leading elements. */
public final class TuplePrefixes {
  /** Follows a NUL inside a string; a NUL without it ends the string. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private TuplePrefixes() {}

  /** Returns whether {@code key} is the tuple {@code prefix} or extends it with more elements. */
  public static boolean isAtOrBelow(byte[] prefix, byte[] key) {
    return isAtOrBelow(prefix, key, 0, key.length);
  }

  /** The same of a key that is a part of an array. */
  public static boolean isAtOrBelow(byte[] prefix, byte[] bytes, int from, int to) {
    return isAtOrBelow(prefix, prefix.length, bytes, from, to);
  }

  /** The same of a prefix that is the beginning of an array. */
  public static boolean isAtOrBelow(byte[] prefix, int prefixEnd, byte[] bytes, int from, int to) {
    int end = from + prefixEnd;
    return to >= end
        && Arrays.equals(prefix, 0, prefixEnd, bytes, from, end)
        && (to == end || bytes[end] != ESCAPED_NUL);
  }
}
