package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.rocksdb.Range;
import org.rocksdb.SizeApproximationFlag;
import org.rocksdb.Slice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine on RocksDB. */
public final class RocksEngine implements Engine {
  private static final Logger LOG = LoggerFactory.getLogger(RocksEngine.class);

  /** How often idle time becomes versions and old snapshots expire. */
  private static final Duration TICK = Duration.ofMillis(100);

  /** A minute: what is given back has to be asked for again, page by page. */
  private static final int TICKS_BETWEEN_TRIMS = 600;

  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(30);

  private static final long POLL_NANOS = 200_000;

  private final OpenStore store;
  private final EngineThreads threads;
  private final SnapshotRegistry snapshots;
  private final AtomicValues atomicValues = new AtomicValues();
  private final Committer committer;
  private final CommitQueue queue;
  private final LogTracker log;
  private final EngineTimer.Handle ticks;
  private final UseGate gate = new UseGate();
  private int ticksSinceTrim;

  /**
   * Opens the store in {@code directory}, or makes one if the directory is missing or empty.
   *
   * @throws lectus.error.StoreOpenException if it cannot be opened; nothing was changed then
   */
  public static RocksEngine open(Path directory, EngineOptions options) {
    OpenStore store = OpenStore.open(directory, options);
    try {
      return new RocksEngine(store, options);
    } catch (RuntimeException | Error failure) {
      store.close();
      throw failure;
    }
  }

  private RocksEngine(OpenStore store, EngineOptions options) {
    this.store = store;
    this.threads = new EngineThreads(options);
    this.log = options.trackSyncedLog() ? new LogTracker(store.rocksFolder()) : null;
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
            log);
    this.queue = new CommitQueue(options, threads.executor(), committer::commit);
    if (log != null) {
      log.noteSynced();
    }
    this.ticks = threads.timer().every(TICK, this::tick);
  }

  @Override
  public long readVersion() {
    return snapshots.published().version();
  }

  @Override
  public Snapshot snapshot(long version) {
    return snapshots.at(version);
  }

  @Override
  public Snapshot latest() {
    return snapshots.latest();
  }

  @Override
  public CompletableFuture<CommitReceipt> commit(CommitRequest request) {
    if (gate.enter() != UseGate.OPEN) {
      return CompletableFuture.failedFuture(StoreErrors.cancelled());
    }
    try {
      PendingCommit commit =
          new PendingCommit(request, CoveredKeys.list(request, snapshots, atomicValues));
      if (!queue.offer(commit)) {
        return CompletableFuture.failedFuture(StoreErrors.queueFull());
      }
      return commit.future();
    } catch (FDBException unreadable) {
      return CompletableFuture.failedFuture(unreadable);
    } finally {
      gate.exit();
    }
  }

  @Override
  public void onPublish(LongConsumer listener) {
    committer.onPublish(listener);
  }

  @Override
  public long estimatedSize(byte[] begin, byte[] end) {
    try (Snapshot pin = latest();
        Slice from = new Slice(begin);
        Slice to = new Slice(end)) {
      return store.db()
          .getApproximateSizes(
              List.of(new Range(from, to)),
              SizeApproximationFlag.INCLUDE_FILES,
              SizeApproximationFlag.INCLUDE_MEMTABLES)[0];
    }
  }

  /**
   * What is known to be on disk, for tests that cut the log there.
   *
   * @throws IllegalStateException unless the options ask for it
   */
  public SyncedLog syncedLog() {
    if (log == null) {
      throw new IllegalStateException("the log is not tracked");
    }
    return log.synced();
  }

  /** How many snapshots are open; each holds native memory. */
  public int openSnapshots() {
    return snapshots.openSnapshots();
  }

  /** How many states of the store are held, the newest one included. */
  public int heldStates() {
    return snapshots.heldStates();
  }

  /**
   * Refuses new commits, waits for those that were asked for and for reads that are under way, then
   * frees everything. Futures of commits are complete when it returns, or about to be.
   */
  @Override
  public synchronized void close() {
    if (gate.marks() != UseGate.OPEN) {
      return;
    }
    gate.mark(UseGate.CLOSED);
    ticks.close();
    await(() -> !gate.isInUse() && queue.isIdle());
    snapshots.closeAll();
    boolean unused = await(() -> !snapshots.isInUse());
    threads.close();
    if (unused) {
      snapshots.reader().close();
      store.close();
    } else {
      // Freeing what a read still uses would end the process; leaving it costs memory alone.
      LOG.error("a read did not end; the store's memory is not freed");
    }
  }

  private void tick() {
    if (gate.enter() != UseGate.OPEN) {
      return;
    }
    try {
      if (!queue.tryTurn(this::passIdleTime)) {
        snapshots.expire();
      }
      trimNowAndThen();
    } finally {
      gate.exit();
    }
  }

  private void trimNowAndThen() {
    ticksSinceTrim++;
    if (ticksSinceTrim == TICKS_BETWEEN_TRIMS) {
      ticksSinceTrim = 0;
      threads.executor().execute(NativeHeap::trim);
    }
  }

  private void passIdleTime() {
    committer.advance();
    snapshots.expire();
  }

  private static boolean await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + CLOSE_PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }
}
