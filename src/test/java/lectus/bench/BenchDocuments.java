package lectus.bench;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Documents of 25 rows: keys of 60 bytes that share a long head, values of 20 bytes. */
final class BenchDocuments {
  static final int ROWS = 25;
  static final byte[] VALUE = new byte[20];

  private static final int KEY_BYTES = 60;
  private static final int ID_OFFSET = 40;
  private static final long SCATTER = 0x9E3779B97F4A7C15L;

  private BenchDocuments() {}

  /** Returns the key of a row. Documents are in the order of their numbers. */
  static byte[] key(long document, int row) {
    byte[] key = new byte[KEY_BYTES];
    Arrays.fill(key, (byte) 'h');
    ByteBuffer.wrap(key).putLong(ID_OFFSET, document);
    key[KEY_BYTES - 1] = (byte) row;
    return key;
  }

  static void addKeys(long document, List<byte[]> keys) {
    for (int row = 0; row < ROWS; row++) {
      keys.add(key(document, row));
    }
  }

  static List<byte[]> keys(long document) {
    List<byte[]> keys = new ArrayList<>(ROWS);
    addKeys(document, keys);
    return keys;
  }

  /** Returns a number far from its predecessor's, as the ids of new documents are. */
  static long scattered(long number) {
    return number * SCATTER;
  }
}
