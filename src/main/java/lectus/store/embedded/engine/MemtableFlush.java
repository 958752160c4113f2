package lectus.store.embedded.engine;

import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes out, while the store is idle, a memtable that makes reads slower than a file would. */
final class MemtableFlush {
  /** Fewer rows in memory are searched as fast as they would be in a file. */
  static final int MANY_ROWS = 20_000;

  private static final Logger LOG = LoggerFactory.getLogger(MemtableFlush.class);
  private static final String ROWS = "rocksdb.num-entries-active-mem-table";
  private static final String DELETIONS = "rocksdb.num-deletes-active-mem-table";
  private static final long MANY_DELETIONS = 4_000;

  private final RocksDB db;

  MemtableFlush(RocksDB db) {
    this.db = db;
  }

  /** Starts a flush if there is much to search, and does not wait for it. */
  void ifManyRows() {
    ifMoreThan(MANY_ROWS, ROWS);
  }

  /**
   * The same if there is much to step over. An index that replaces its entries leaves two dead rows
   * for each update, and a scan has to step over all that are in memory; on their way out most of
   * them cancel each other.
   */
  void ifManyDeletions() {
    ifMoreThan(MANY_DELETIONS, DELETIONS);
  }

  private void ifMoreThan(long few, String property) {
    try (FlushOptions later = new FlushOptions().setWaitForFlush(false)) {
      if (db.getLongProperty(property) > few) {
        db.flush(later);
      }
    } catch (RocksDBException failure) {
      // The next commit meets the same trouble and is the one to tell about it.
      LOG.warn("the memtable could not be flushed: {}", failure.getMessage());
    }
  }
}
