package lectus.store.embedded.engine;

import java.util.function.Consumer;
import lectus.error.NotInMemoryException;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Reads states; whoever calls keeps the state held until the call, or its cursor, is done. */
final class StoreReader implements AutoCloseable {
  /**
   * From the end, fewer rows than these are not worth a look whether the range is short, and who
   * limits a read to more expects a long range. But who asks for the last row alone mostly asks for
   * what there is one of, or none yet.
   */
  private static final int MIN_ROWS_FOR_SHORT = 8;

  private static final int MAX_ROWS_FOR_SHORT = 64;

  private final RocksDB db;
  private final IteratorPool iterators;

  StoreReader(RocksDB db) {
    this.db = db;
    this.iterators = new IteratorPool(db);
  }

  /**
   * @param options one of those that a state has
   * @throws NotInMemoryException if they are for memory alone and the disk would have to be read
   */
  byte[] get(ReadOptions options, byte[] key) {
    try {
      return db.get(options, key);
    } catch (RocksDBException failure) {
      if (failure.getStatus().getCode() == Status.Code.Incomplete) {
        throw NotInMemoryException.INSTANCE;
      }
      throw StoreErrors.ioError(failure.getMessage());
    }
  }

  /** A cursor of a snapshot in use; closing the cursor ends that use. */
  RocksCursor scan(HeldSnapshot snapshot, byte[] begin, byte[] end, boolean reverse, int rows) {
    try {
      BoundedIterator iterator = iterators.take(snapshot.state(), begin, end);
      return new RocksCursor(snapshot, iterators, iterator, reverse, reverse ? shortRows(rows) : 0);
    } catch (RocksDBException failure) {
      throw StoreErrors.ioError(failure.getMessage());
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

  /** Hands out the first {@code limit} keys of a range; true if these are all. */
  boolean forEachKey(StoreState state, byte[] begin, byte[] end, Consumer<byte[]> sink, int limit) {
    try {
      BoundedIterator iterator = iterators.take(state, begin, end);
      try {
        int count = 0;
        for (iterator.first(); iterator.isAtRow(); iterator.forward()) {
          if (count++ == limit) {
            return false;
          }
          sink.accept(iterator.key());
        }
        return true;
      } finally {
        iterators.giveBack(iterator);
      }
    } catch (RocksDBException failure) {
      throw StoreErrors.ioError(failure.getMessage());
    }
  }

  /** Frees what has not been used for some time. */
  void tick() {
    iterators.tick();
  }

  @Override
  public void close() {
    iterators.close();
  }
}
