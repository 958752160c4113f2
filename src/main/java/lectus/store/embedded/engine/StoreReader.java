package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.error.NotInMemoryException;
import lectus.store.embedded.engine.IteratorPool.BoundedIterator;
import lectus.store.embedded.engine.folder.IoFailure;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Reads states. The caller keeps the state held until the call or its cursor is done. */
public final class StoreReader implements AutoCloseable {
  /**
   * For a backward read of fewer rows it is not worth checking whether the range is short, and a
   * caller that limits a read to more expects a long range. But a caller that asks for only the
   * last row mostly expects one row or none.
   */
  private static final int MIN_ROWS_FOR_SHORT = 8;

  private static final int MAX_ROWS_FOR_SHORT = 64;

  /**
   * Clears of up to this many keys become deletions of those keys, larger ones a range tombstone.
   */
  public static final int FEW_KEYS = 256;

  private final RocksDB db;
  final IteratorPool iterators;
  private final PointCache points;

  public StoreReader(RocksDB db, PointCache points) {
    this.db = db;
    this.points = points;
    this.iterators = new IteratorPool(db);
  }

  public PointCache points() {
    return points;
  }

  /** Like {@link #get(ReadOptions, byte[])}, but a value that was kept needs no RocksDB. */
  byte[] get(StoreState state, ReadOptions options, byte[] key) {
    byte[] known = points.find(state.firstVersion(), key);
    if (known != null) {
      return known;
    }
    byte[] value = get(options, key);
    points.keep(state.firstVersion(), key, value);
    return value;
  }

  /**
   * @param options one of the state's
   * @throws NotInMemoryException if the options allow only memory and the disk would have to be
   *     read
   */
  public byte[] get(ReadOptions options, byte[] key) {
    try {
      return db.get(options, key);
    } catch (RocksDBException failure) {
      if (failure.getStatus().getCode() == Status.Code.Incomplete) {
        throw NotInMemoryException.INSTANCE;
      }
      throw IoFailure.unreadable(failure);
    }
  }

  /** Returns a cursor of a snapshot in use. Closing the cursor ends that use. */
  RocksCursor scan(StoreSnapshot snapshot, byte[] begin, byte[] end, boolean reverse, int rows) {
    try {
      BoundedIterator iterator = iterators.take(snapshot.state(), begin, end);
      try {
        return new RocksCursor(
            snapshot, iterators, iterator, reverse, reverse ? shortRows(rows) : 0);
      } catch (Error noMemory) {
        iterator.close();
        throw noMemory;
      }
    } catch (RocksDBException failure) {
      throw IoFailure.unreadable(failure);
    }
  }

  private static int shortRows(int rows) {
    if (rows == 1) {
      return 1;
    }
    boolean worthwhile =
        rows == Integer.MAX_VALUE || (rows >= MIN_ROWS_FOR_SHORT && rows <= MAX_ROWS_FOR_SHORT);
    return worthwhile ? MAX_ROWS_FOR_SHORT : 0;
  }

  /** Returns the keys in [begin, end), or null if there are more than {@link #FEW_KEYS}. */
  public List<byte[]> fewKeys(StoreState state, byte[] begin, byte[] end) {
    if (Arrays.compareUnsigned(begin, end) >= 0) {
      return List.of();
    }
    try {
      BoundedIterator iterator = iterators.take(state, begin, end);
      try {
        List<byte[]> keys = new ArrayList<>();
        for (iterator.first(); iterator.isAtRow(); iterator.forward()) {
          if (keys.size() == FEW_KEYS) {
            return null;
          }
          keys.add(iterator.key());
        }
        return keys;
      } finally {
        iterators.giveBack(iterator);
      }
    } catch (RocksDBException failure) {
      throw IoFailure.unreadable(failure);
    }
  }

  @Override
  public void close() {
    iterators.close();
  }

  public static IllegalStateException closed() {
    return new IllegalStateException("the store is closed");
  }
}
