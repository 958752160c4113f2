package lectus.document.read;

import java.util.Arrays;

/** Prefixes of keys and paths in tuple encoding. */
final class DocumentKeys {
  private DocumentKeys() {}

  static byte[] join(byte[] first, byte[] second) {
    byte[] joined = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, joined, first.length, second.length);
    return joined;
  }
}
