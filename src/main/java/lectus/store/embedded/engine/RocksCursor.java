package lectus.store.embedded.engine;

import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.IteratorPool.BoundedIterator;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import lectus.store.embedded.engine.folder.IoFailure;
import org.rocksdb.RocksDBException;

/** Walks one range of a snapshot. Keeps the snapshot's state alive until closed. */
final class RocksCursor implements Cursor {
  private final StoreSnapshot snapshot;
  private final IteratorPool pool;
  private final boolean reverse;
  private final UseCount gate = new UseCount();
  private final BoundedIterator iterator;
  private ShortRange shortRange;
  private boolean started;
  private boolean ended;
  private byte[] key;
  private byte[] value;

  /**
   * Creates a cursor before its first row.
   *
   * @param snapshot in use until the cursor is closed
   * @param shortRows for a range of at most this many rows, a walk from its beginning is cheaper
   *     than one from its end, so that is tried first; 0: no range is so short
   */
  RocksCursor(
      StoreSnapshot snapshot,
      IteratorPool pool,
      BoundedIterator iterator,
      boolean reverse,
      int shortRows) {
    this.snapshot = snapshot;
    this.pool = pool;
    this.iterator = iterator;
    this.reverse = reverse;
    this.shortRange = shortRows > 0 ? new ShortRange(shortRows) : null;
  }

  @Override
  public boolean next() {
    enter();
    try {
      ended = ended || !(started ? step() : begin());
      if (!ended && shortRange != null) {
        key = shortRange.keys[shortRange.position];
        value = shortRange.values[shortRange.position];
      } else if (!ended) {
        key = iterator.key();
        value = iterator.value();
      }
      return !ended;
    } catch (RocksDBException failure) {
      throw IoFailure.unreadable(failure);
    } finally {
      exit();
    }
  }

  @Override
  public byte[] key() {
    return key;
  }

  @Override
  public byte[] value() {
    return value;
  }

  @Override
  public void close() {
    end(UseCount.CLOSED);
  }

  /** Forbids further steps. A step under way ends first. */
  void end(int mark) {
    if (gate.mark(mark)) {
      free();
    }
  }

  private boolean step() throws RocksDBException {
    if (shortRange != null) {
      return shortRange.backward();
    }
    if (reverse) {
      iterator.backward();
    } else {
      iterator.forward();
    }
    return iterator.isAtRow();
  }

  private boolean begin() throws RocksDBException {
    started = true;
    if (shortRange != null) {
      if (shortRange.load(iterator)) {
        return shortRange.backward();
      }
      shortRange = null;
    }
    if (reverse) {
      iterator.last();
    } else {
      iterator.first();
    }
    return iterator.isAtRow();
  }

  private void enter() {
    int marks = gate.enter();
    if (marks != UseCount.OPEN) {
      throw StoreSnapshot.refusal(marks);
    }
    if (snapshot.isOutOfWindow()) {
      exit();
      throw FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
  }

  private void exit() {
    if (gate.exit()) {
      free();
    }
  }

  private void free() {
    try {
      pool.giveBack(iterator);
      snapshot.forget(this);
    } finally {
      snapshot.exit();
    }
  }

  /**
   * The rows of a short range, read forward to be walked backward: a native step back costs several
   * times a step forward.
   */
  private static final class ShortRange {
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
  }
}
