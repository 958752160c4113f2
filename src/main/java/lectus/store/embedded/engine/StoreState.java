package lectus.store.embedded.engine;

import java.util.concurrent.atomic.AtomicInteger;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;

/**
 * The store between two commits: a native snapshot with a count of its holders. The registry itself
 * holds the newest one and the recent ones.
 */
public final class StoreState {
  private final RocksDB db;
  private final long firstVersion;
  private final byte[] metadataVersion;
  private final org.rocksdb.Snapshot nativeSnapshot;
  private final ReadOptions pointReads;
  private final ReadOptions memoryReads;
  private final AtomicInteger holders = new AtomicInteger(1);
  private volatile long successorVersion = Long.MAX_VALUE;
  private volatile boolean recent = true;

  /**
   * Captures the current store.
   *
   * @param firstVersion the version of the commit that produced this state
   * @param metadataVersion the 10 bytes of FF/metadataVersion, or null
   */
  public StoreState(RocksDB db, long firstVersion, byte[] metadataVersion) {
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

  public byte[] metadataVersion() {
    return metadataVersion;
  }

  org.rocksdb.Snapshot nativeSnapshot() {
    return nativeSnapshot;
  }

  public ReadOptions pointReads() {
    return pointReads;
  }

  /** Returns the options for reads from memtables and the block cache only. */
  ReadOptions memoryReads() {
    return memoryReads;
  }

  /** Holds this state. Returns false if it is already freed. */
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

  boolean isFreed() {
    return holders.get() == 0;
  }

  /** Releases one hold. Returns true if it was the last, which frees the native objects. */
  boolean release() {
    if (holders.decrementAndGet() != 0) {
      return false;
    }
    pointReads.close();
    memoryReads.close();
    db.releaseSnapshot(nativeSnapshot);
    return true;
  }

  /** Notes the version of the commit that superseded this state. */
  void supersededBy(long version) {
    successorVersion = version;
  }

  /** Returns the last version of a superseded state. */
  long lastVersion() {
    return successorVersion - 1;
  }

  /** Notes that the registry no longer holds this state. */
  void leaveRecent() {
    recent = false;
  }

  /** Returns whether this is the newest state, or somebody beside the registry holds it. */
  boolean isUsed() {
    return successorVersion == Long.MAX_VALUE || holders.get() > (recent ? 1 : 0);
  }

  /** Returns whether this state was the newest at {@code version}, or still is. */
  boolean isCurrentAt(long version) {
    return firstVersion <= version && version < successorVersion;
  }
}
