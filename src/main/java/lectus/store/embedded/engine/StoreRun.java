package lectus.store.embedded.engine;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.rocksdb.Range;
import org.rocksdb.SizeApproximationFlag;
import org.rocksdb.Slice;

/**
 * One opening of RocksDB and all that lives on it. Whoever uses it enters its gate or holds one of
 * its snapshots; it is freed when it was ended and nobody does.
 */
final class StoreRun {
  private final OpenStore store;
  private final SnapshotRegistry snapshots;
  private final AtomicValues atomicValues = new AtomicValues();
  private final Committer committer;
  private final LogTracker log;
  private final LogRecorder logRecorder;
  private final UseGate gate = new UseGate();
  private final Reclaiming reclaiming;
  private boolean letGo;
  private boolean freed;

  private StoreRun(OpenStore store, EngineOptions options, Uses uses) {
    this.store = store;
    this.log =
        new LogTracker(
            store.folder().rocks(), store.lease()::durableCeiling, options.trackSyncedLog());
    this.logRecorder = new LogRecorder(store.folder().logRecord(), log, uses.executor());
    long version = store.firstVersion();
    this.snapshots =
        new SnapshotRegistry(
            new StoreReader(store.db()),
            new Published(version, new StoreState(store.db(), version, store.metadataVersion())));
    this.committer =
        new Committer(
            store.db(),
            store.writeOptions(),
            store.lease(),
            snapshots,
            new ConflictHistory(version, options.conflictHistoryBytes()),
            atomicValues,
            log,
            store.backgroundErrors());
    this.reclaiming = new Reclaiming(store.db(), snapshots, gate, uses.commits());
    committer.onPublish(uses.listener());
    committer.onClear(reclaiming::cleared);
    logRecorder.write();
  }

  /**
   * What of the engine a run uses.
   *
   * @param executor runs work in the background
   * @param listener is told of each new version
   * @param commits takes commits of the run's own, in the same queue as any other
   */
  record Uses(
      Executor executor,
      LongConsumer listener,
      Function<CommitRequest, CompletableFuture<CommitReceipt>> commits) {}

  /**
   * Opens the store in {@code directory}, or makes one if the directory is missing or empty.
   *
   * @throws lectus.error.StoreOpenException if it cannot be opened; nothing was changed then
   */
  static StoreRun open(Path directory, EngineOptions options, Uses uses) {
    return on(OpenStore.open(DataFolder.take(directory), options), options, uses);
  }

  /**
   * Opens the store that was open in {@code directory}.
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

  /** Why nothing can be committed until the store is opened again, or null. */
  Trouble trouble() {
    return committer.trouble();
  }

  /** What the committer would have to read for a commit; nothing of a run that has ended. */
  CoveredKeys cover(CommitRequest request) {
    if (gate.enter() != UseGate.OPEN) {
      return CoveredKeys.NONE;
    }
    try {
      return CoveredKeys.list(request, snapshots, atomicValues);
    } finally {
      gate.exit();
    }
  }

  /** A turn of the committer. */
  void commit(List<PendingCommit> commits) {
    committer.commit(commits);
  }

  /** A turn of the committer, while nothing is committed. */
  void passIdleTime() {
    committer.advance();
    snapshots.expire();
  }

  /** Ten times a second; not a turn of the committer. */
  void tick(boolean busy) {
    if (gate.enter() != UseGate.OPEN) {
      return;
    }
    try {
      if (busy) {
        snapshots.expire();
      }
      logRecorder.tick();
    } finally {
      gate.exit();
    }
  }

  long estimatedSize(byte[] begin, byte[] end) {
    // A state that is held keeps RocksDB open; a snapshot would not: it may be ended at any time.
    StoreState held = snapshots.holdNewest().state();
    try (Slice from = new Slice(begin);
        Slice to = new Slice(end)) {
      return store.db()
          .getApproximateSizes(
              List.of(new Range(from, to)),
              SizeApproximationFlag.INCLUDE_FILES,
              SizeApproximationFlag.INCLUDE_MEMTABLES)[0];
    } finally {
      snapshots.release(held);
    }
  }

  /**
   * Refuses new reads and ends open snapshots; what is under way finishes.
   *
   * @param mark of open snapshots: CLOSED, or EXPIRED where a reader is to come again
   * @param refusal of new ones
   */
  void end(int mark, Supplier<? extends RuntimeException> refusal) {
    gate.mark(mark);
    reclaiming.stop();
    snapshots.endAll(mark, refusal);
  }

  /** Frees everything if nobody uses it any more; no commit may be under way or come. */
  boolean tryFree() {
    if (!letGo) {
      letGo = true;
      snapshots.letGo();
    }
    if (!freed && !gate.isInUse() && !snapshots.isInUse()) {
      freed = true;
      reclaiming.close();
      snapshots.reader().close();
      committer.close();
      logRecorder.close();
      store.close();
    }
    return freed;
  }
}
