package lectus.store.embedded.engine;

import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * How an engine is to run. Start from {@link #defaults()} and change what matters.
 *
 * @param cacheBytes what memtables, indexes, and stored data that was read may take of memory
 *     together; three memtables count before there is room for the others
 * @param memtableBytes the size at which a memtable is written out
 * @param openFiles how many files of the store may be open at a time
 * @param conflictHistoryBytes what the conflict history may weigh before the oldest open
 *     transactions lose with 1007
 * @param groupTransactions how many commits at most share one synced write
 * @param groupBytes how many bytes of mutations and conflict ranges at most share one synced write;
 *     a single larger commit goes alone
 * @param queuedBytes how many bytes of commits may wait before further ones get 1042
 * @param reservedBytes the low-water mark of free space on the disk; 0: a twentieth of the disk,
 *     512 MB at most
 * @param durability when a commit counts as done
 * @param trackSyncedLog whether {@link RocksEngine#syncedLog} is kept up to date, which costs a
 *     directory listing for each group
 * @param microClock microseconds from any origin; it may be set back
 * @param executor runs the committer, one turn at a time, and completes the futures of commits;
 *     unless it is a test's, it needs at least two threads. Null: the engine makes its own
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

  /** What a server with a heap of 512 MB and 1 GB of memory in all wants. */
  public static EngineOptions defaults() {
    return new EngineOptions(
        256 * MIB,
        48 * MIB,
        512,
        64 * MIB,
        1024,
        16 * MIB,
        64 * MIB,
        0,
        Durability.SYNC,
        false,
        () -> System.nanoTime() / 1000,
        null,
        null);
  }

  /** These options with other sizes of the cache and of a memtable, in bytes. */
  public EngineOptions withMemory(long cache, long memtable) {
    Draft draft = new Draft(this);
    draft.cacheBytes = cache;
    draft.memtableBytes = memtable;
    return draft.finish();
  }

  /** These options with another bound of the files that are open at a time. */
  public EngineOptions withOpenFiles(int files) {
    Draft draft = new Draft(this);
    draft.openFiles = files;
    return draft.finish();
  }

  /** These options with other limits, in bytes, of the conflict history and of the queue. */
  public EngineOptions withLimits(long conflictHistory, long queued) {
    Draft draft = new Draft(this);
    draft.conflictHistoryBytes = conflictHistory;
    draft.queuedBytes = queued;
    return draft.finish();
  }

  /** These options with another bound of a group. */
  public EngineOptions withGroups(int transactions, long bytes) {
    Draft draft = new Draft(this);
    draft.groupTransactions = transactions;
    draft.groupBytes = bytes;
    return draft.finish();
  }

  /** These options with another low-water mark of free space, in bytes. */
  public EngineOptions withReserve(long reserved) {
    Draft draft = new Draft(this);
    draft.reservedBytes = reserved;
    return draft.finish();
  }

  /** These options for a crash test, which cuts the log where it is known to be synced. */
  public EngineOptions withTrackedLog(Durability newDurability) {
    Draft draft = new Draft(this);
    draft.durability = newDurability;
    draft.trackSyncedLog = true;
    return draft.finish();
  }

  /** These options with another clock, in microseconds. */
  public EngineOptions withClock(LongSupplier newMicroClock) {
    Draft draft = new Draft(this);
    draft.microClock = newMicroClock;
    return draft.finish();
  }

  /** These options with other threads. */
  public EngineOptions withThreads(Executor newExecutor, EngineTimer newTimer) {
    Draft draft = new Draft(this);
    draft.executor = newExecutor;
    draft.timer = newTimer;
    return draft.finish();
  }

  /** Options of which some are about to change. */
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
