package lectus.tuple;

import java.util.Arrays;

/** Tuples that begin other tuples. */
public final class TuplePrefixes {
  /** After the NUL that ends a string it makes that NUL the string's own. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private TuplePrefixes() {}

  /** Whether {@code key} is the tuple {@code prefix}, or goes on from it with more elements. */
  public static boolean isAtOrBelow(byte[] prefix, byte[] key) {
    return key.length >= prefix.length
        && Arrays.equals(prefix, 0, prefix.length, key, 0, prefix.length)
        && (key.length == prefix.length || key[prefix.length] != ESCAPED_NUL);
  }
}
