package lectus.document;

import java.util.Arrays;

/** Prefixes of keys and paths in tuple encoding. */
final class DocumentKeys {
  /** After the NUL that ends a string it makes that NUL the string's own. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private DocumentKeys() {}

  static byte[] join(byte[] first, byte[] second) {
    byte[] joined = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, joined, first.length, second.length);
    return joined;
  }

  /** Whether {@code key} is the tuple {@code prefix}, or goes on from it with more elements. */
  static boolean isAtOrBelow(byte[] prefix, byte[] key) {
    return key.length >= prefix.length
        && Arrays.equals(prefix, 0, prefix.length, key, 0, prefix.length)
        && (key.length == prefix.length || key[prefix.length] != ESCAPED_NUL);
  }
}
