package lectus.store.embedded.engine;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import lectus.store.embedded.engine.commit.Durability;
import lectus.store.embedded.engine.commit.EngineTimer;
import lectus.store.embedded.engine.commit.GroupLimits;

/**
 * The options of an engine. Start from {@link #defaults()} and change what matters.
 *
 * @param cacheBytes memory for memtables, indexes and cached data together; three memtables are
 *     charged first, the others share the rest
 * @param memtableBytes the size at which a memtable is flushed
 * @param openFiles how many files of the store may be open at a time
 * @param conflictHistoryBytes the limit of the conflict history; beyond it the oldest open
 *     transactions fail with 1007
 * @param groupTransactions the most commits that share one synced write
 * @param groupBytes the most bytes of mutations and conflict ranges that share one synced write; a
 *     single larger commit goes alone
 * @param queuedBytes the bytes of waiting commits beyond which further ones fail with 1042
 * @param reservedBytes the low-water mark of free space on the disk; 0: it follows from the disk
 *     and the memtables
 * @param durability when a commit counts as done
 * @param trackSyncedLog whether to keep {@link RocksEngine#syncedLog} up to date, which costs a
 *     directory listing for each group
 * @param microClock microseconds since 1970; it may be set back
 * @param executor runs the committer, one turn at a time, and completes the futures of commits;
 *     unless it is a test's, it needs at least two threads. Null: the engine creates its own
 * @param timer turns idle time into versions and expires old snapshots. Null: the engine's own
 */
public record EngineOptions(
    long cacheBytes,
    long memtableBytes,
    int openFiles,
    long conflictHistoryBytes,
    int groupTransactions,
    long groupBytes,
    long queuedBytes,
    long reservedBytes,
    Durability durability,
    boolean trackSyncedLog,
    LongSupplier microClock,
    Executor executor,
    EngineTimer timer) {

  private static final long MIB = 1L << 20;

  // The defaults.
  private static final long CACHE_BYTES = 256 * MIB;
  private static final long MEMTABLE_BYTES = 48 * MIB;
  private static final int OPEN_FILES = 512;
  private static final long CONFLICT_HISTORY_BYTES = 64 * MIB;
  private static final int GROUP_TRANSACTIONS = 1_024;
  private static final long GROUP_BYTES = 16 * MIB;
  private static final long QUEUED_BYTES = 64 * MIB;

  /** Returns the limits of a group of commits and of the queue. */
  GroupLimits groupLimits() {
    return new GroupLimits(groupTransactions, groupBytes, queuedBytes);
  }

  /** Returns the options for a server with a heap of 512 MB and 1 GB of memory in all. */
  public static EngineOptions defaults() {
    return new EngineOptions(
        CACHE_BYTES,
        MEMTABLE_BYTES,
        OPEN_FILES,
        CONFLICT_HISTORY_BYTES,
        GROUP_TRANSACTIONS,
        GROUP_BYTES,
        QUEUED_BYTES,
        0,
        Durability.SYNC,
        false,
        () -> ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()),
        null,
        null);
  }

  /** Returns these options with other sizes of the cache and of a memtable, in bytes. */
  public EngineOptions withMemory(long cache, long memtable) {
    Draft draft = new Draft(this);
    draft.cacheBytes = cache;
    draft.memtableBytes = memtable;
    return draft.finish();
  }

  /** Returns these options with another limit of open files. */
  public EngineOptions withOpenFiles(int files) {
    Draft draft = new Draft(this);
    draft.openFiles = files;
    return draft.finish();
  }

  /**
   * Returns these options with other limits, in bytes, of the conflict history and of the queue.
   */
  public EngineOptions withLimits(long conflictHistory, long queued) {
    Draft draft = new Draft(this);
    draft.conflictHistoryBytes = conflictHistory;
    draft.queuedBytes = queued;
    return draft.finish();
  }

  /** Returns these options with another limit of a group. */
  public EngineOptions withGroups(int transactions, long bytes) {
    Draft draft = new Draft(this);
    draft.groupTransactions = transactions;
    draft.groupBytes = bytes;
    return draft.finish();
  }

  /** Returns these options with another low-water mark of free space, in bytes. */
  public EngineOptions withReserve(long reserved) {
    Draft draft = new Draft(this);
    draft.reservedBytes = reserved;
    return draft.finish();
  }

  /** Returns these options for a crash test, which cuts the log at its synced length. */
  public EngineOptions withTrackedLog(Durability newDurability) {
    Draft draft = new Draft(this);
    draft.durability = newDurability;
    draft.trackSyncedLog = true;
    return draft.finish();
  }

  /** Returns these options with another clock, in microseconds. */
  public EngineOptions withClock(LongSupplier newMicroClock) {
    Draft draft = new Draft(this);
    draft.microClock = newMicroClock;
    return draft.finish();
  }

  /** Returns these options with other threads. */
  public EngineOptions withThreads(Executor newExecutor, EngineTimer newTimer) {
    Draft draft = new Draft(this);
    draft.executor = newExecutor;
    draft.timer = newTimer;
    return draft.finish();
  }

  /** A mutable copy of options. */
  private static final class Draft {
    private long cacheBytes;
    private long memtableBytes;
    private int openFiles;
    private long conflictHistoryBytes;
    private int groupTransactions;
    private long groupBytes;
    private long queuedBytes;
    private long reservedBytes;
    private Durability durability;
    private boolean trackSyncedLog;
    private LongSupplier microClock;
    private Executor executor;
    private EngineTimer timer;

    Draft(EngineOptions from) {
      cacheBytes = from.cacheBytes;
      memtableBytes = from.memtableBytes;
      openFiles = from.openFiles;
      conflictHistoryBytes = from.conflictHistoryBytes;
      groupTransactions = from.groupTransactions;
      groupBytes = from.groupBytes;
      queuedBytes = from.queuedBytes;
      reservedBytes = from.reservedBytes;
      durability = from.durability;
      trackSyncedLog = from.trackSyncedLog;
      microClock = from.microClock;
      executor = from.executor;
      timer = from.timer;
    }

    EngineOptions finish() {
      return new EngineOptions(
          cacheBytes,
          memtableBytes,
          openFiles,
          conflictHistoryBytes,
          groupTransactions,
          groupBytes,
          queuedBytes,
          reservedBytes,
          durability,
          trackSyncedLog,
          microClock,
          executor,
          timer);
    }
  }
}
