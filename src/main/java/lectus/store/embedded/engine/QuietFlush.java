package lectus.store.embedded.engine;

import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Tells when the deletions of a memtable are to be flushed though it is not full: when they are
 * many and the store is at rest. RocksDB compacts what deletions hide only once they have left its
 * memory, which without writes they never do. It goes by RocksDB's own figures of the memtable, so
 * commits count nothing. Used by one thread.
 */
final class QuietFlush {
  /** Fewer are not worth a file; those of some 2 500 purged documents are as many. */
  static final int MANY_DELETIONS = 10_000;

  private static final String ENTRIES = "rocksdb.num-entries-active-mem-table";
  private static final String DELETIONS = "rocksdb.num-deletes-active-mem-table";
  private static final int TICKS_PER_LOOK = 10;

  /** Five seconds, for which open snapshots may need what was deleted. */
  private static final int QUIET_LOOKS = 5;

  /** A minute between two flushes, so that deletions that drip in cost little. */
  private static final int LOOKS_OF_REST = 60;

  /** Entries between two looks that a store at rest may still write, as leases and notes. */
  private static final int FEW_ENTRIES = 100;

  private final RocksDB db;
  private final Reclaiming reclaiming;
  private int ticks;
  private long entries;
  private int quiet;
  private int rest;

  QuietFlush(RocksDB db, Reclaiming reclaiming) {
    this.db = db;
    this.reclaiming = reclaiming;
  }

  /** Called ten times a second. Quick. */
  void tick() {
    ticks++;
    if (ticks < TICKS_PER_LOOK) {
      return;
    }
    ticks = 0;
    try {
      look();
    } catch (RocksDBException unknown) {
      quiet = 0;
    }
  }

  private void look() throws RocksDBException {
    long now = db.getLongProperty(ENTRIES);
    boolean isQuiet = now >= entries && now - entries <= FEW_ENTRIES;
    entries = now;
    quiet = isQuiet ? quiet + 1 : 0;
    rest = Math.max(0, rest - 1);
    if (quiet < QUIET_LOOKS || rest > 0) {
      return;
    }
    boolean isMany = db.getLongProperty(DELETIONS) >= MANY_DELETIONS;
    if (isMany || reclaiming.hasSmallRanges()) {
      rest = LOOKS_OF_REST;
      reclaiming.settle(isMany);
    }
  }
}
