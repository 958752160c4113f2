package lectus.store.embedded.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import lectus.store.embedded.engine.CommitQueue.GroupLimits;

/**
 * The options of an engine. Start from {@link #defaults()}, for a server with a heap of 512 MB and
 * 1 GB of memory in all, and change what matters. Each change returns other options.
 */
public final class EngineOptions {
  private static final long MIB = 1L << 20;
  private static final long CACHE_BYTES = 256 * MIB;
  private static final long MEMTABLE_BYTES = 48 * MIB;
  private static final int OPEN_FILES = 512;
  private static final long CONFLICT_HISTORY_BYTES = 64 * MIB;
  private static final long POINT_BYTES = 4 * MIB;
  private static final int GROUP_TRANSACTIONS = 1_024;
  private static final long GROUP_BYTES = 16 * MIB;
  private static final long QUEUED_BYTES = 64 * MIB;

  /**
   * Memory for memtables, indexes and cached data together. Three memtables are charged first, the
   * others share the rest.
   */
  long cacheBytes = CACHE_BYTES;

  /** The size at which a memtable is flushed. */
  long memtableBytes = MEMTABLE_BYTES;

  /** How many files of the store may be open at a time. */
  int openFiles = OPEN_FILES;

  /** Beyond this size of the conflict history the oldest open transactions fail with 1007. */
  long conflictHistoryBytes = CONFLICT_HISTORY_BYTES;

  /** Memory for values that point reads ask for again and again, on the heap. */
  long pointBytes = POINT_BYTES;

  /**
   * The low-water mark of free space on the disk; 0: it follows from the disk and the memtables.
   */
  long reservedBytes;

  Durability durability = Durability.SYNC;

  /** Keeps the newest synced log up to date, by listing a directory for each group. */
  boolean tracksSyncedLog;

  /** Microseconds since 1970; it may be set back. */
  LongSupplier microClock = () -> ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());

  /**
   * Runs the committer, one turn at a time, and completes the futures of commits. Unless it is a
   * test's, it needs at least two threads. Null: the engine creates its own.
   */
  Executor executor;

  /** Turns idle time into versions and expires old snapshots. Null: the engine's own. */
  EngineTimer timer;

  /** The most transactions that share one synced write; a larger commit is one by itself. */
  int groupTransactions = GROUP_TRANSACTIONS;

  long groupBytes = GROUP_BYTES;
  private long queuedBytes = QUEUED_BYTES;

  private EngineOptions() {}

  public static EngineOptions defaults() {
    return new EngineOptions();
  }

  /** When a commit counts as done. */
  public enum Durability {
    /** The write-ahead log is on disk before a commit is acknowledged. */
    SYNC,
    /** The log is never synced: a power loss loses acknowledged commits. For tests only. */
    SKIP_SYNC
  }

  /** Runs a task repeatedly. Tests supply one that they advance by hand. */
  @FunctionalInterface
  public interface EngineTimer {
    /** Runs {@code task} every {@code period} until the returned handle is closed. */
    Handle every(Duration period, Runnable task);

    /** Ends a repetition when closed. */
    @FunctionalInterface
    interface Handle extends AutoCloseable {
      @Override
      void close();
    }
  }

  GroupLimits groupLimits() {
    return new GroupLimits(groupTransactions, groupBytes, queuedBytes);
  }

  /** Returns the most bytes of mutations and conflict ranges that share one synced write. */
  public long groupBytes() {
    return groupBytes;
  }

  /** Returns these options with other sizes of the cache and of a memtable, in bytes. */
  public EngineOptions withMemory(long cache, long memtable) {
    return with(
        it -> {
          it.cacheBytes = cache;
          it.memtableBytes = memtable;
        });
  }

  public EngineOptions withOpenFiles(int files) {
    return with(it -> it.openFiles = files);
  }

  /**
   * Returns these options with other limits, in bytes, of the conflict history and of the queue,
   * which limits a group, too.
   *
   * @param queued the bytes of waiting commits beyond which further ones fail with 1042
   */
  public EngineOptions withLimits(long conflictHistory, long queued) {
    return with(
        it -> {
          it.conflictHistoryBytes = conflictHistory;
          it.queuedBytes = queued;
          it.groupBytes = Math.min(groupBytes, queued);
        });
  }

  /** Returns these options with other memory, in bytes, for values of point reads. */
  public EngineOptions withPointBytes(long bytes) {
    return with(it -> it.pointBytes = bytes);
  }

  /** Returns these options with another low-water mark of free space, in bytes. */
  public EngineOptions withReserve(long reserved) {
    return with(it -> it.reservedBytes = reserved);
  }

  public EngineOptions with(Consumer<EngineOptions> change) {
    EngineOptions copy = new EngineOptions();
    copy.cacheBytes = cacheBytes;
    copy.memtableBytes = memtableBytes;
    copy.openFiles = openFiles;
    copy.conflictHistoryBytes = conflictHistoryBytes;
    copy.pointBytes = pointBytes;
    copy.reservedBytes = reservedBytes;
    copy.durability = durability;
    copy.tracksSyncedLog = tracksSyncedLog;
    copy.microClock = microClock;
    copy.executor = executor;
    copy.timer = timer;
    copy.groupTransactions = groupTransactions;
    copy.groupBytes = groupBytes;
    copy.queuedBytes = queuedBytes;
    change.accept(copy);
    return copy;
  }
}
