package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import javax.management.JMException;
import javax.management.ObjectName;
import lectus.error.FoundationDbError;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Tasks;
import lectus.store.embedded.engine.CommitQueue.PendingCommit;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.EngineOptions.EngineTimer;
import lectus.store.embedded.engine.folder.FreeSpace;
import lectus.store.embedded.engine.folder.IoFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine on RocksDB. */
public final class RocksEngine implements Engine {
  private static final Logger LOG = LoggerFactory.getLogger(RocksEngine.class);

  /** How often idle time becomes versions and old snapshots expire. */
  private static final Duration TICK = Duration.ofMillis(100);

  /** A minute. Memory that is trimmed has to be requested again, page by page. */
  private static final int TICKS_BETWEEN_TRIMS = 600;

  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(30);

  private static final long POLL_NANOS = 200_000;

  private final EngineThreads threads;
  private final CommitQueue queue;
  private final FreeSpace space;
  private final Recovery revival;
  private final EngineTimer.Handle ticks;
  private final UseCount gate = new UseCount();
  private volatile LongConsumer listener = version -> {};
  volatile StoreRun run;
  private final Histogram groupSizes = Histogram.ofSizes();
  private final Histogram groupTimes = Histogram.ofTimes();
  private final Tasks tasks = new Tasks();
  private final Object checkpoints = new Object();
  private int ticksSinceTrim;

  /**
   * Opens the store in {@code directory}. Creates it if the directory is missing or empty.
   *
   * @throws lectus.error.StoreOpenException if it cannot be opened; nothing was changed then
   */
  public static RocksEngine open(Path directory, EngineOptions options) {
    return new RocksEngine(directory, options);
  }

  private RocksEngine(Path directory, EngineOptions options) {
    this.threads = new EngineThreads(options);
    StoreRun.Uses uses = new StoreRun.Uses(threads.executor(), this::tell, this::commit, tasks);
    this.run = StoreRun.open(directory, options, uses);
    this.space = new FreeSpace(directory, options.reservedBytes, options.memtableBytes);
    this.revival = new Recovery(directory, options, space, uses);
    this.queue = new CommitQueue(options.groupLimits(), threads.executor(), this::commitGroup);
    this.ticks = threads.timer().every(TICK, this::tick);
  }

  private void tell(long version) {
    listener.accept(version);
  }

  @Override
  public long readVersion() {
    return run.snapshots().published().version();
  }

  @Override
  public StoreSnapshot snapshot(long version) {
    return run.snapshots().at(version);
  }

  @Override
  public StoreSnapshot latest() {
    return run.snapshots().latest();
  }

  @Override
  public CompletableFuture<CommitReceipt> commit(CommitRequest request) {
    if (gate.enter() != UseCount.OPEN) {
      return CompletableFuture.failedFuture(FoundationDbError.TRANSACTION_CANCELLED.exception());
    }
    try {
      FDBException refusal = refusal(request);
      if (refusal != null) {
        return CompletableFuture.failedFuture(refusal);
      }
      PendingCommit commit = new PendingCommit(request, run.cover(request));
      if (!queue.offer(commit)) {
        return CompletableFuture.failedFuture(
            FoundationDbError.COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED.exception());
      }
      return commit.future();
    } catch (FDBException unreadable) {
      return CompletableFuture.failedFuture(unreadable);
    } finally {
      gate.exit();
    }
  }

  private void commitGroup(List<PendingCommit> commits) {
    long begunNanos = System.nanoTime();
    run.commit(commits);
    groupSizes.add(commits.size());
    groupTimes.add(System.nanoTime() - begunNanos);
  }

  private FDBException refusal(CommitRequest request) {
    IoFailure trouble = run.committer.trouble();
    return trouble != null ? trouble.refusal() : space.refusal(request.urgent());
  }

  @Override
  public void onPublish(LongConsumer newListener) {
    listener = newListener;
  }

  @Override
  public void describe(Meters meters) {
    meters.spread(
        "lectus_store_group_commits", "Commits that shared one synced write.", groupSizes);
    meters.spread(
        "lectus_store_sync_seconds",
        "Checking, writing and syncing one group of commits.",
        groupTimes);
    queue.describe(meters);
    space.describe(meters);
    meters.level(
        "lectus_store_open_snapshots",
        "Snapshots that transactions hold.",
        () -> run.snapshots().openSnapshots());
    meters.level(
        "lectus_store_held_states",
        "States of the store that are kept: the newest, and those of the last five seconds.",
        () -> run.snapshots().heldStates());
    meters.level(
        "lectus_store_refuses_commits",
        "1 while nothing can be committed until the store was reopened.",
        () -> run.committer.trouble() == null ? 0 : 1);
    new RocksMetrics(property -> run.property(property), type -> run.ticker(type)).describe(meters);
  }

  @Override
  public boolean isShortOfSpace() {
    return space.isShort();
  }

  @Override
  public Tasks tasks() {
    return tasks;
  }

  /** Makes one at a time. */
  @Override
  public Path checkpoint() {
    synchronized (checkpoints) {
      if (gate.enter() != UseCount.OPEN) {
        throw FoundationDbError.TRANSACTION_CANCELLED.exception();
      }
      try {
        FDBException shortage = space.refusal(false);
        if (shortage != null) {
          throw shortage;
        }
        return run.checkpoint();
      } finally {
        gate.exit();
      }
    }
  }

  @Override
  public CompletableFuture<String> broken() {
    return revival.broken();
  }

  @Override
  public long estimatedSize(byte[] begin, byte[] end) {
    return run.estimatedSize(begin, end);
  }

  /** Returns the number of open snapshots; each holds native memory. */
  public int openSnapshots() {
    return run.snapshots().openSnapshots();
  }

  /** Returns the number of held states of the store, including the newest. */
  public int heldStates() {
    return run.snapshots().heldStates();
  }

  /**
   * Refuses new commits, waits for requested commits and for reads under way, then frees
   * everything. When it returns, the futures of commits are complete or about to be.
   */
  @Override
  public void close() {
    close(CLOSE_PATIENCE);
  }

  /**
   * Like {@link #close()}, but what is still in use after {@code patience} is freed later, when its
   * use ends.
   */
  synchronized void close(Duration patience) {
    if (gate.marks() != UseCount.OPEN) {
      return;
    }
    gate.mark(UseCount.CLOSED);
    ticks.close();
    long deadline = System.nanoTime() + patience.toNanos();
    BooleanSupplier patient = () -> System.nanoTime() - deadline < 0;
    if (!free(patient)) {
      LOG.warn("The store is still in use; it will be closed once that use ends.");
      Thread later = new Thread(() -> free(() -> true), "lectus-store-close");
      later.setDaemon(true);
      later.start();
    }
  }

  /** Returns whether all use ended within the patience. Nothing is freed while in use. */
  private boolean free(BooleanSupplier patient) {
    run.snapshots().endAll(UseCount.CLOSED, StoreReader::closed);
    if (!await(() -> !gate.isInUse() && queue.isIdle(), patient)) {
      return false;
    }
    run.end(UseCount.CLOSED, StoreReader::closed);
    if (!await(run::tryFree, patient)) {
      return false;
    }
    threads.close();
    return true;
  }

  private void tick() {
    if (gate.enter() != UseCount.OPEN) {
      return;
    }
    try {
      space.look();
      run.tick(!queue.tryTurn(this::passIdleTime));
      trimNowAndThen();
    } catch (Throwable failure) {
      // A timer whose task throws never runs it again.
      DaemonThreads.complain(LOG, "A tick of the store failed; the next one tries again", failure);
    } finally {
      gate.exit();
    }
  }

  private void passIdleTime() {
    if (run.committer.trouble() == null) {
      run.passIdleTime();
      return;
    }
    StoreRun next = revival.revive(run);
    if (next != run) {
      run = next;
      // A commit in doubt may have been stored in part or whole.
      tell(readVersion());
    }
  }

  private void trimNowAndThen() {
    ticksSinceTrim++;
    if (ticksSinceTrim == TICKS_BETWEEN_TRIMS) {
      ticksSinceTrim = 0;
      threads.executor().execute(NativeHeap::trim);
    }
  }

  private static boolean await(BooleanSupplier condition, BooleanSupplier patient) {
    while (!condition.getAsBoolean()) {
      if (!patient.getAsBoolean()) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  /**
   * Returns memory freed by RocksDB to the system. The C library keeps what memtables and
   * compactions freed, often more than a hundred MB, for later allocations until it is asked to
   * trim it.
   */
  static final class NativeHeap {
    private static final Logger LOG = LoggerFactory.getLogger(NativeHeap.class);
    private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";

    /** Available on Linux with glibc, from JDK 17.0.9. */
    private static final String TRIM = "systemTrimNativeHeap";

    private NativeHeap() {}

    /** Returns free memory to the system. Returns false if the JVM has no command for that. */
    static boolean trim() {
      try {
        ManagementFactory.getPlatformMBeanServer()
            .invoke(new ObjectName(COMMANDS), TRIM, null, null);
        return true;
      } catch (JMException unknown) {
        LOG.debug("The native heap cannot be trimmed", unknown);
        return false;
      }
    }
  }
}
