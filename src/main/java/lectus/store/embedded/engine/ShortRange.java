package lectus.store.embedded.engine;

import org.rocksdb.RocksDBException;

/**
 * The rows of a short range, read forward to be walked backward: a native step back costs several
 * times a step forward.
 */
final class ShortRange {
  /** A range with more rows or bytes is not worth it. */
  private static final int MAX_ROWS = 64;

  private static final int MAX_BYTES = 32 << 10;

  private final byte[][] keys = new byte[MAX_ROWS][];
  private final byte[][] values = new byte[MAX_ROWS][];
  private int position;

  /** Reads the whole range of the iterator; false if it is too long. */
  boolean load(BoundedIterator iterator) throws RocksDBException {
    int bytes = 0;
    for (iterator.first(); iterator.isAtRow(); iterator.forward()) {
      if (position == MAX_ROWS || bytes > MAX_BYTES) {
        return false;
      }
      keys[position] = iterator.key();
      values[position] = iterator.value();
      bytes += keys[position].length + values[position].length;
      position++;
    }
    return true;
  }

  /** Steps to the row before; false at the beginning. */
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
