package lectus.document.read;

import java.util.Arrays;

/** Tuple-encoded prefixes of keys and paths. */
final class LeafPrefixes {
  private LeafPrefixes() {}

  static byte[] join(byte[] first, byte[] second) {
    byte[] joined = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, joined, first.length, second.length);
    return joined;
  }
}
