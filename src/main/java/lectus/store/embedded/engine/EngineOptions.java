package lectus.store.embedded.engine;

import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * How an engine is to run. Start from {@link #defaults()} and change what matters.
 *
 * @param blockCacheBytes how much of the stored data is kept uncompressed in memory
 * @param writeBufferBytes the size at which a memtable is written out
 * @param conflictHistoryBytes what the conflict history may weigh before the oldest open
 *     transactions lose with 1007
 * @param groupTransactions how many commits at most share one synced write
 * @param groupBytes how many bytes of mutations and conflict ranges at most share one synced write;
 *     a single larger commit goes alone
 * @param queuedBytes how many bytes of commits may wait before further ones get 1042
 * @param durability when a commit counts as done
 * @param trackSyncedLog whether {@link RocksEngine#syncedLog} is kept up to date, which costs a
 *     directory listing for each group
 * @param microClock microseconds from any origin; it may be set back
 * @param executor runs the committer, one turn at a time, and completes the futures of commits;
 *     unless it is a test's, it needs at least two threads. Null: the engine makes its own
 * @param timer turns idle time into versions and expires old snapshots. Null: the engine's own
 */
public record EngineOptions(
    long blockCacheBytes,
    long writeBufferBytes,
    long conflictHistoryBytes,
    int groupTransactions,
    long groupBytes,
    long queuedBytes,
    Durability durability,
    boolean trackSyncedLog,
    LongSupplier microClock,
    Executor executor,
    EngineTimer timer) {

  private static final long MIB = 1L << 20;

  /** What a server with a heap of 512 MB and 1 GB of memory in all wants. */
  public static EngineOptions defaults() {
    return new EngineOptions(
        96 * MIB,
        48 * MIB,
        64 * MIB,
        1024,
        16 * MIB,
        64 * MIB,
        Durability.SYNC,
        false,
        () -> System.nanoTime() / 1000,
        null,
        null);
  }

  /** These options with other sizes of the block cache and of a memtable, in bytes. */
  public EngineOptions withMemory(long blockCache, long writeBuffer) {
    return new EngineOptions(
        blockCache,
        writeBuffer,
        conflictHistoryBytes,
        groupTransactions,
        groupBytes,
        queuedBytes,
        durability,
        trackSyncedLog,
        microClock,
        executor,
        timer);
  }

  /** These options with other limits, in bytes, of the conflict history and of the queue. */
  public EngineOptions withLimits(long conflictHistory, long queued) {
    return new EngineOptions(
        blockCacheBytes,
        writeBufferBytes,
        conflictHistory,
        groupTransactions,
        groupBytes,
        queued,
        durability,
        trackSyncedLog,
        microClock,
        executor,
        timer);
  }

  /** These options with another bound of a group. */
  public EngineOptions withGroups(int transactions, long bytes) {
    return new EngineOptions(
        blockCacheBytes,
        writeBufferBytes,
        conflictHistoryBytes,
        transactions,
        bytes,
        queuedBytes,
        durability,
        trackSyncedLog,
        microClock,
        executor,
        timer);
  }

  /** These options for a crash test, which cuts the log where it is known to be synced. */
  public EngineOptions withTrackedLog(Durability newDurability) {
    return new EngineOptions(
        blockCacheBytes,
        writeBufferBytes,
        conflictHistoryBytes,
        groupTransactions,
        groupBytes,
        queuedBytes,
        newDurability,
        true,
        microClock,
        executor,
        timer);
  }

  /** These options with another clock, in microseconds. */
  public EngineOptions withClock(LongSupplier newMicroClock) {
    return new EngineOptions(
        blockCacheBytes,
        writeBufferBytes,
        conflictHistoryBytes,
        groupTransactions,
        groupBytes,
        queuedBytes,
        durability,
        trackSyncedLog,
        newMicroClock,
        executor,
        timer);
  }

  /** These options with other threads. */
  public EngineOptions withThreads(Executor newExecutor, EngineTimer newTimer) {
    return new EngineOptions(
        blockCacheBytes,
        writeBufferBytes,
        conflictHistoryBytes,
        groupTransactions,
        groupBytes,
        queuedBytes,
        durability,
        trackSyncedLog,
        microClock,
        newExecutor,
        newTimer);
  }
}
