package lectus.store.embedded.engine;

import java.util.concurrent.atomic.AtomicInteger;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;

/**
 * What the store held between two commits: a native snapshot with a count of those who hold it. The
 * engine itself holds the newest one.
 */
final class StoreState {
  private final RocksDB db;
  private final long firstVersion;
  private final byte[] metadataVersion;
  private final org.rocksdb.Snapshot nativeSnapshot;
  private final ReadOptions pointReads;
  private final ReadOptions memoryReads;
  private final AtomicInteger holders = new AtomicInteger(1);
  private volatile long successorVersion = Long.MAX_VALUE;

  /**
   * Takes the store as it is now.
   *
   * @param firstVersion the version of the commit that led to this state
   * @param metadataVersion the 10 bytes of FF/metadataVersion, or null
   */
  StoreState(RocksDB db, long firstVersion, byte[] metadataVersion) {
    this.db = db;
    this.firstVersion = firstVersion;
    this.metadataVersion = metadataVersion;
    this.nativeSnapshot = db.getSnapshot();
    this.pointReads = new ReadOptions().setSnapshot(nativeSnapshot);
    this.memoryReads =
        new ReadOptions().setSnapshot(nativeSnapshot).setReadTier(ReadTier.BLOCK_CACHE_TIER);
  }

  long firstVersion() {
    return firstVersion;
  }

  byte[] metadataVersion() {
    return metadataVersion;
  }

  org.rocksdb.Snapshot nativeSnapshot() {
    return nativeSnapshot;
  }

  ReadOptions pointReads() {
    return pointReads;
  }

  /** The same, of what is in memtables and in the block cache. */
  ReadOptions memoryReads() {
    return memoryReads;
  }

  /** Holds this state; false if it is already freed. */
  boolean retain() {
    while (true) {
      int current = holders.get();
      if (current == 0) {
        return false;
      }
      if (holders.compareAndSet(current, current + 1)) {
        return true;
      }
    }
  }

  /** Gives up one hold; true if it was the last one, which frees the native objects. */
  boolean release() {
    if (holders.decrementAndGet() != 0) {
      return false;
    }
    pointReads.close();
    memoryReads.close();
    db.releaseSnapshot(nativeSnapshot);
    return true;
  }

  /** Notes the version of the commit that ended this state. */
  void supersededBy(long version) {
    successorVersion = version;
  }

  /** Whether this state was the newest one at {@code version}, or still is. */
  boolean isCurrentAt(long version) {
    return firstVersion <= version && version < successorVersion;
  }
}
