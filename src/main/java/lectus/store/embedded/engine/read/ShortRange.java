package lectus.store.embedded.engine.read;

import org.rocksdb.RocksDBException;

/**
 * The rows of a short range, read forward to be walked backward: a native step back costs several
 * times a step forward.
 */
final class ShortRange {
  /** Ranges with more bytes are not worth it. */
  private static final int MAX_BYTES = 32 << 10;

  private final byte[][] keys;
  private final byte[][] values;
  private int position;

  /**
   * @param maxRows ranges with more rows are not worth it
   */
  ShortRange(int maxRows) {
    keys = new byte[maxRows][];
    values = new byte[maxRows][];
  }

  /** Reads the iterator's whole range. Returns false if it is too long. */
  boolean load(BoundedIterator iterator) throws RocksDBException {
    int bytes = 0;
    for (iterator.first(); iterator.isAtRow(); iterator.forward()) {
      if (position == keys.length || bytes > MAX_BYTES) {
        return false;
      }
      keys[position] = iterator.key();
      values[position] = iterator.value();
      bytes += keys[position].length + values[position].length;
      position++;
    }
    return true;
  }

  /** Steps to the previous row. Returns false at the beginning. */
  boolean backward() {
    return --position >= 0;
  }

  byte[] key() {
    return keys[position];
  }

  byte[] value() {
    return values[position];
  }
}
