package lectus.store.embedded.engine.read;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

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
    } catch (RocksDBException | RuntimeException failure) {
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
    idle.addFirst(iterator);
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
}
