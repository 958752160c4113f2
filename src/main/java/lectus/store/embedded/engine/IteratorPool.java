package lectus.store.embedded.engine;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.rocksdb.DirectSlice;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * A pool of iterators, because creating one costs several microseconds. An idle iterator keeps the
 * memtables and files of its last state alive, so it is closed after a second.
 */
final class IteratorPool implements AutoCloseable {
  private static final int KEY_CAPACITY = 1024;
  private static final int IDLE_TICKS = 10;

  /**
   * The age after which an iterator looks its files up again: a compaction may have merged them.
   */
  private static final int REFRESH_TICKS = 10;

  private final RocksDB db;
  private final Deque<BoundedIterator> idle = new ConcurrentLinkedDeque<>();
  private volatile long tick;

  IteratorPool(RocksDB db) {
    this.db = db;
  }

  /** Returns an iterator over [begin, end) of a state that the caller holds. */
  BoundedIterator take(StoreState state, byte[] begin, byte[] end) throws RocksDBException {
    BoundedIterator iterator = suitable(state, Math.max(begin.length, end.length));
    try {
      if (!iterator.reads(state) || tick - iterator.lastRefresh() > REFRESH_TICKS) {
        iterator.refresh(state, tick);
      }
      iterator.use(begin, end);
      return iterator;
    } catch (RocksDBException | RuntimeException | Error failure) {
      iterator.close();
      throw failure;
    }
  }

  /** Takes back an iterator. Its last use must precede the release of its state. */
  void giveBack(BoundedIterator iterator) {
    if (iterator.keyCapacity() > KEY_CAPACITY) {
      iterator.close();
      return;
    }
    iterator.setLastUse(tick);
    try {
      idle.addFirst(iterator);
    } catch (Error noMemory) {
      iterator.close();
    }
  }

  /** Closes iterators idle for a second. Called ten times a second. */
  void tick() {
    tick++;
    for (BoundedIterator last = idle.peekLast();
        last != null && tick - last.lastUse() > IDLE_TICKS && idle.removeLastOccurrence(last);
        last = idle.peekLast()) {
      last.close();
    }
  }

  @Override
  public void close() {
    for (BoundedIterator each = idle.poll(); each != null; each = idle.poll()) {
      each.close();
    }
  }

  private BoundedIterator suitable(StoreState state, int longestBound) {
    if (longestBound > KEY_CAPACITY) {
      return new BoundedIterator(db, state, longestBound, tick);
    }
    BoundedIterator iterator = idle.pollFirst();
    return iterator == null ? new BoundedIterator(db, state, KEY_CAPACITY, tick) : iterator;
  }

  /**
   * A native iterator that can be reused for another range of another state. Its bounds are slices
   * over direct buffers whose content changes between two seeks, which RocksDB allows. Used by one
   * thread at a time.
   */
  static final class BoundedIterator implements AutoCloseable {
    private static final int VALUE_BYTES = 16 << 10;

    private final ByteBuffer lower;
    private final ByteBuffer upper;

    /**
     * The buffer through which rows are copied: cheaper than a direct buffer or an array created
     * natively.
     */
    private final byte[] row;

    private final DirectSlice lowerSlice;
    private final DirectSlice upperSlice;
    private final ReadOptions options;
    private final RocksIterator iterator;
    private final int keyCapacity;
    private StoreState state;
    private long lastUse;
    private long lastRefresh;

    /**
     * Creates an iterator over {@code state} whose bounds may be up to {@code keyCapacity} bytes
     * long.
     */
    BoundedIterator(RocksDB db, StoreState state, int keyCapacity, long tick) {
      this.state = state;
      this.lastRefresh = tick;
      this.keyCapacity = keyCapacity;
      lower = ByteBuffer.allocateDirect(keyCapacity);
      upper = ByteBuffer.allocateDirect(keyCapacity);
      row = new byte[Math.max(keyCapacity, VALUE_BYTES)];
      lowerSlice = new DirectSlice(lower, 0);
      upperSlice = new DirectSlice(upper, 0);
      options =
          new ReadOptions()
              .setSnapshot(state.nativeSnapshot())
              .setIterateLowerBound(lowerSlice)
              .setIterateUpperBound(upperSlice);
      iterator = db.newIterator(options);
    }

    int keyCapacity() {
      return keyCapacity;
    }

    /** Returns when it was last returned, in ticks of its pool. */
    long lastUse() {
      return lastUse;
    }

    void setLastUse(long tick) {
      lastUse = tick;
    }

    /** Returns when it was last moved to a state, in ticks of its pool. */
    long lastRefresh() {
      return lastRefresh;
    }

    boolean reads(StoreState ofState) {
      return state == ofState;
    }

    /** Moves it to a state, in the files that now hold it. */
    void refresh(StoreState newState, long tick) throws RocksDBException {
      iterator.refresh(newState.nativeSnapshot());
      state = newState;
      lastRefresh = tick;
    }

    /** Restricts it to [begin, end) of its state, which the caller holds. */
    void use(byte[] begin, byte[] end) {
      lower.put(0, begin);
      lowerSlice.setLength(begin.length);
      upper.put(0, end);
      upperSlice.setLength(end.length);
    }

    void first() {
      iterator.seekToFirst();
    }

    void last() {
      iterator.seekToLast();
    }

    void forward() {
      iterator.next();
    }

    void backward() {
      iterator.prev();
    }

    /** Returns whether it is at a row. Throws if a failure is the reason that it is not. */
    boolean isAtRow() throws RocksDBException {
      if (iterator.isValid()) {
        return true;
      }
      iterator.status();
      return false;
    }

    byte[] key() {
      int length = iterator.key(row, 0, row.length);
      return length > row.length ? iterator.key() : Arrays.copyOf(row, length);
    }

    byte[] value() {
      int length = iterator.value(row, 0, row.length);
      return length > row.length ? iterator.value() : Arrays.copyOf(row, length);
    }

    @Override
    public void close() {
      iterator.close();
      options.close();
      lowerSlice.close();
      upperSlice.close();
    }
  }
}
