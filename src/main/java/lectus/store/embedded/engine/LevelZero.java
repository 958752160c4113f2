package lectus.store.embedded.engine;

import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many memtables gather at level 0 before they are merged into the base level: several under
 * load, because each merge rewrites that level; none once the load is over, because each of them
 * costs every read a search of its own. So does what is still in memory, which is written out then.
 * For one thread at a time.
 */
final class LevelZero {
  private static final Logger LOG = LoggerFactory.getLogger(LevelZero.class);

  static final int FILES_UNDER_LOAD = 8;

  /** The least that RocksDB knows: a file is merged as soon as it is there. */
  static final int FILES_AT_REST = 1;

  /** Ticks in a row after which the store counts as being under load. */
  static final int TICKS_UNTIL_LOAD = 5;

  /** Ticks in a row after which the load counts as over. */
  static final int TICKS_UNTIL_REST = 20;

  private final RocksDB db;
  private final MemtableFlush memtable;
  private boolean underLoad = true;
  private int ticksOtherwise;

  LevelZero(RocksDB db) {
    this.db = db;
    this.memtable = new MemtableFlush(db);
  }

  /** Takes note, at each tick, whether commits are under way. */
  void tick(boolean busy) {
    ticksOtherwise = busy == underLoad ? 0 : ticksOtherwise + 1;
    if (ticksOtherwise == (underLoad ? TICKS_UNTIL_REST : TICKS_UNTIL_LOAD)) {
      ticksOtherwise = 0;
      underLoad = busy;
      turn();
    }
  }

  private void turn() {
    if (!underLoad) {
      memtable.ifManyRows();
    }
    allow(underLoad ? FILES_UNDER_LOAD : FILES_AT_REST);
  }

  private void allow(int files) {
    try {
      db.setOptions(
          MutableColumnFamilyOptions.builder().setLevel0FileNumCompactionTrigger(files).build());
    } catch (RocksDBException failure) {
      // Reads or writes are slower than they could be, no more.
      LOG.warn("the size of level 0 could not be changed: {}", failure.getMessage());
    }
  }
}
