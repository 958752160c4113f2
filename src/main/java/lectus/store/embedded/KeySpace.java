package lectus.store.embedded;

import java.util.Arrays;

/** The key space: its bounds, its limits in bytes, and its few special keys. */
final class KeySpace {
  static final byte[] FIRST = {};
  static final byte[] USER_END = {(byte) 0xFF};
  static final byte[] SYSTEM_END = {(byte) 0xFF, (byte) 0xFF};
  static final byte[] METADATA_VERSION = metadataVersion();
  static final byte[] METADATA_VERSION_END = after(METADATA_VERSION);

  static final int KEY_LIMIT_BYTES = 10_000;
  static final int SYSTEM_KEY_LIMIT_BYTES = 30_000;
  static final int VALUE_LIMIT_BYTES = 100_000;

  /** The extra length that raw access allows: FoundationDB's tenant prefix. */
  private static final int RAW_ACCESS_BYTES = 8;

  private KeySpace() {}

  private static byte[] metadataVersion() {
    byte[] name = "/metadataVersion".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    byte[] key = new byte[name.length + 1];
    key[0] = (byte) 0xFF;
    System.arraycopy(name, 0, key, 1, name.length);
    return key;
  }

  static byte[] after(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  static boolean isMetadataVersion(byte[] key) {
    return key.length == METADATA_VERSION.length && Arrays.equals(key, METADATA_VERSION);
  }

  /** Returns whether the key is in {@code [FFFF, FFFFFF)}, which a cluster's modules serve. */
  static boolean isSpecial(byte[] key) {
    return key.length > 1
        && key[0] == (byte) 0xFF
        && key[1] == (byte) 0xFF
        && (key.length == 2 || key[2] != (byte) 0xFF);
  }

  static int writeLimit(byte[] key, boolean rawAccess) {
    if (key.length > 0 && key[0] == (byte) 0xFF) {
      return SYSTEM_KEY_LIMIT_BYTES;
    }
    return rawAccess ? KEY_LIMIT_BYTES + RAW_ACCESS_BYTES : KEY_LIMIT_BYTES;
  }

  /** Returns the length that no stored key exceeds. */
  static int readLimit(byte[] key) {
    return writeLimit(key, true);
  }

  /** Cuts a range's bound to just after the longest key that can exist. */
  static byte[] cut(byte[] bound) {
    if (bound.length <= KEY_LIMIT_BYTES) {
      return bound;
    }
    int limit = writeLimit(bound, true);
    return bound.length > limit ? Arrays.copyOf(bound, limit + 1) : bound;
  }

  static byte[] min(byte[] a, byte[] b) {
    return Arrays.compareUnsigned(a, b) <= 0 ? a : b;
  }

  static byte[] max(byte[] a, byte[] b) {
    return Arrays.compareUnsigned(a, b) >= 0 ? a : b;
  }

  /** Returns whether {@code [begin, end)} holds exactly one key. */
  static boolean isSingle(byte[] begin, byte[] end) {
    return end.length == begin.length + 1
        && end[begin.length] == 0
        && Arrays.equals(begin, 0, begin.length, end, 0, begin.length);
  }
}
