package lectus.store.embedded.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;
import lectus.metrics.Tasks;
import lectus.store.embedded.engine.CommitQueue.PendingCommit;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.Reclaiming.QuietFlush;
import lectus.store.embedded.engine.SnapshotRegistry.Published;
import lectus.store.embedded.engine.folder.DataFolder;
import lectus.store.embedded.engine.folder.IoFailure;
import lectus.store.embedded.engine.folder.LogTracker;
import lectus.store.embedded.engine.folder.LogTracker.LogRecorder;
import org.rocksdb.Checkpoint;
import org.rocksdb.Range;
import org.rocksdb.RocksDBException;
import org.rocksdb.SizeApproximationFlag;
import org.rocksdb.Slice;
import org.rocksdb.TickerType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One opening of RocksDB and everything built on it. Its users enter its gate or hold one of its
 * snapshots. It is freed once it has ended and has no users.
 */
final class StoreRun {
  private static final Logger LOG = LoggerFactory.getLogger(StoreRun.class);

  private final OpenStore store;
  private final SnapshotRegistry snapshots;
  private final AtomicValues atomicValues = new AtomicValues();
  final Committer committer;
  private final LogTracker log;
  private final LogRecorder logRecorder;
  private final UseCount gate = new UseCount();
  private final Reclaiming reclaiming;
  private final QuietFlush quietFlush;
  private boolean letGo;
  private boolean freed;

  private StoreRun(OpenStore store, EngineOptions options, Uses uses) {
    this.store = store;
    this.log =
        new LogTracker(store.folder.rocks(), store.lease::durableCeiling, options.tracksSyncedLog);
    this.logRecorder = new LogRecorder(store.folder.logRecord(), log, uses.executor());
    long version = store.firstVersion;
    this.snapshots =
        new SnapshotRegistry(
            new StoreReader(store.db, new PointCache(options.pointBytes)),
            new Published(version, new StoreState(store.db, version, store.metadataVersion)));
    this.committer =
        new Committer(
            store.db,
            store.settings.writeOptions(),
            store.lease,
            snapshots,
            new ConflictHistory(version, options.conflictHistoryBytes),
            atomicValues,
            log,
            store.settings.backgroundErrors());
    this.reclaiming = new Reclaiming(store.db, snapshots, gate, uses.commits(), uses.tasks());
    this.quietFlush = new QuietFlush(store.db, reclaiming);
    committer.onPublish(uses.listener());
    committer.onClear(reclaiming::cleared);
    logRecorder.write();
  }

  /**
   * The parts of the engine that a run uses.
   *
   * @param executor runs work in the background
   * @param listener is called with each new version
   * @param commits takes the run's own commits, in the same queue as all others
   * @param tasks shows what the run does in the background
   */
  record Uses(
      Executor executor,
      LongConsumer listener,
      Function<CommitRequest, CompletableFuture<CommitReceipt>> commits,
      Tasks tasks) {}

  /**
   * Opens the store in {@code directory}. Creates it if the directory is missing or empty.
   *
   * @throws lectus.error.StoreOpenException if it cannot be opened; nothing was changed then
   */
  static StoreRun open(Path directory, EngineOptions options, Uses uses) {
    return on(OpenStore.open(DataFolder.take(directory), options), options, uses);
  }

  /**
   * Reopens the store in {@code directory}.
   *
   * @throws lectus.error.StoreOpenException if it cannot be opened, or is gone
   */
  static StoreRun reopen(Path directory, EngineOptions options, Uses uses) {
    return on(OpenStore.open(DataFolder.takeAgain(directory), options), options, uses);
  }

  private static StoreRun on(OpenStore store, EngineOptions options, Uses uses) {
    try {
      return new StoreRun(store, options, uses);
    } catch (RuntimeException | Error failure) {
      store.close();
      throw failure;
    }
  }

  SnapshotRegistry snapshots() {
    return snapshots;
  }

  LogTracker log() {
    return log;
  }

  /**
   * Lists what the committer would have to read for a commit. Lists nothing if the run has ended.
   */
  CoveredKeys cover(CommitRequest request) {
    if (gate.enter() != UseCount.OPEN) {
      return CoveredKeys.NONE;
    }
    try {
      return CoveredKeys.list(request, snapshots, atomicValues);
    } finally {
      gate.exit();
    }
  }

  /** Runs in a turn of the committer. */
  void commit(List<PendingCommit> commits) {
    committer.commit(commits);
  }

  /** Runs in a turn of the committer while nothing is committed. */
  void passIdleTime() {
    committer.advance();
    snapshots.expire();
  }

  /** Called ten times a second, outside the committer's turns. */
  void tick(boolean busy) {
    if (gate.enter() != UseCount.OPEN) {
      return;
    }
    try {
      if (busy) {
        snapshots.expire();
      }
      logRecorder.tick();
      quietFlush.tick();
    } finally {
      gate.exit();
    }
  }

  /**
   * Makes the folder's checkpoint.
   *
   * @throws com.apple.foundationdb.FDBException 1037 if the run has ended; as a commit that cannot
   *     be written
   */
  Path checkpoint() {
    if (gate.enter() != UseCount.OPEN) {
      throw FoundationDbError.PROCESS_BEHIND.exception();
    }
    try (Checkpoint rocks = Checkpoint.create(store.db)) {
      return store.folder.checkpoint(files -> rocks.createCheckpoint(files.toString()));
    } catch (IOException | RocksDBException failure) {
      IoFailure met = IoFailure.of(failure);
      LOG.error("There is no checkpoint: {}", met.sentence());
      throw met.refusal();
    } finally {
      gate.exit();
    }
  }

  /**
   * Returns one of RocksDB's own figures.
   *
   * @return empty if RocksDB does not know it, or the run has ended
   */
  OptionalLong property(String name) {
    if (gate.enter() != UseCount.OPEN) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(store.db.getProperty(name)));
    } catch (RocksDBException | NumberFormatException unknown) {
      return OptionalLong.empty();
    } finally {
      gate.exit();
    }
  }

  /** Returns what RocksDB has counted since it was opened; 0 if the run has ended. */
  long ticker(TickerType type) {
    if (gate.enter() != UseCount.OPEN) {
      return 0;
    }
    try {
      return store.settings.statistics().getTickerCount(type);
    } finally {
      gate.exit();
    }
  }

  long estimatedSize(byte[] begin, byte[] end) {
    // A held state keeps RocksDB open. A snapshot would not, because it may be ended at any time.
    StoreState held = snapshots.holdNewest().state();
    try (Slice from = new Slice(begin);
        Slice to = new Slice(end)) {
      return store
          .db
          .getApproximateSizes(
              List.of(new Range(from, to)),
              SizeApproximationFlag.INCLUDE_FILES,
              SizeApproximationFlag.INCLUDE_MEMTABLES)[0];
    } finally {
      snapshots.release(held);
    }
  }

  /**
   * Refuses new reads and ends open snapshots. Reads under way finish.
   *
   * @param mark for open snapshots: CLOSED, or EXPIRED if readers are to try again
   * @param refusal for new reads
   */
  void end(int mark, Supplier<? extends RuntimeException> refusal) {
    gate.mark(mark);
    reclaiming.stop();
    snapshots.endAll(mark, refusal);
  }

  /** Frees everything if it has no users. No commit may be under way or follow. */
  boolean tryFree() {
    if (!letGo) {
      letGo = true;
      snapshots.letGo();
    }
    if (!freed && !gate.isInUse() && !snapshots.isInUse()) {
      freed = true;
      free();
    }
    return freed;
  }

  /** Whatever is thrown meanwhile, the folder may be opened again. */
  private void free() {
    try {
      reclaiming.close();
      snapshots.reader().close();
      committer.close();
    } finally {
      try {
        logRecorder.close();
      } finally {
        store.close();
      }
    }
  }
}
