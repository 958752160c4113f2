package lectus.tuple;

import java.util.Arrays;

/** Compares tuples by their leading elements. */
public final class TuplePrefixes {
  /** Follows a NUL inside a string; a NUL without it ends the string. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private TuplePrefixes() {}

  /** Returns whether {@code key} is the tuple {@code prefix} or extends it with more elements. */
  public static boolean isAtOrBelow(byte[] prefix, byte[] key) {
    return key.length >= prefix.length
        && Arrays.equals(prefix, 0, prefix.length, key, 0, prefix.length)
        && (key.length == prefix.length || key[prefix.length] != ESCAPED_NUL);
  }
}
