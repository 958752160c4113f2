package lectus.store.embedded.engine;

import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes out a memtable full of deletions while the store is idle. An index that replaces its
 * entries leaves two dead rows for each update, and a scan has to step over all that are in memory;
 * on their way out most of them cancel each other.
 */
final class TombstoneFlush {
  private static final Logger LOG = LoggerFactory.getLogger(TombstoneFlush.class);
  private static final String DELETIONS = "rocksdb.num-deletes-active-mem-table";
  private static final long MANY = 4_000;

  private final RocksDB db;

  TombstoneFlush(RocksDB db) {
    this.db = db;
  }

  /** Starts a flush if there are many deletions, and does not wait for it. */
  void flushIfWorthwhile() {
    try (FlushOptions later = new FlushOptions().setWaitForFlush(false)) {
      if (db.getLongProperty(DELETIONS) > MANY) {
        db.flush(later);
      }
    } catch (RocksDBException failure) {
      // The next commit meets the same trouble and is the one to tell about it.
      LOG.warn("the memtable could not be flushed: {}", failure.getMessage());
    }
  }
}
