package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import lectus.error.FoundationDbError;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of commits and the committer's turns: one of the executor's threads at a time works on
 * the queue. While commits wait, another thread completes the futures of the previous group. If
 * none waits, the committer's thread completes them, which saves a lone client a second wake-up.
 */
public final class CommitQueue implements Measured {
  private static final Logger LOG = LoggerFactory.getLogger(CommitQueue.class);

  /** How long an answer waits for memory before it is tried again. */
  private static final long RETRY_NANOS = 5_000_000;

  /**
   * Has its class initialized before memory is short: a class whose initialization finds none
   * cannot be used until the process ends.
   */
  private static final FoundationDbError UNKNOWN = FoundationDbError.COMMIT_UNKNOWN_RESULT;

  private final Executor executor;
  private final Consumer<List<PendingCommit>> work;
  private final int groupTransactions;
  private final long groupBytes;
  private final long maxBytes;
  private final ConcurrentLinkedQueue<PendingCommit> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong queuedBytes = new AtomicLong();

  /** Allocated beforehand: once a commit is counted, nothing may fail for lack of memory. */
  private final Runnable workingOff = this::workOff;

  /**
   * The number of commits that wait or are worked on, counted once they are in the queue, plus one
   * for a turn that {@link #tryTurn} took. The thread that raises it from zero starts the
   * committer.
   */
  private final AtomicInteger load = new AtomicInteger();

  public CommitQueue(GroupLimits limits, Executor executor, Consumer<List<PendingCommit>> work) {
    this.executor = executor;
    this.work = work;
    this.groupTransactions = limits.transactions();
    this.groupBytes = limits.bytes();
    this.maxBytes = limits.queuedBytes();
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_store_queued_commits", "Commits that wait for the committer.", load::get);
    meters.level("lectus_store_queued_bytes", "Bytes of these commits.", queuedBytes::get);
  }

  /** Appends a commit. Returns false if too many bytes wait already. */
  public boolean offer(PendingCommit commit) {
    long bytes = commit.bytes();
    if (queuedBytes.addAndGet(bytes) > maxBytes && queuedBytes.get() != bytes) {
      queuedBytes.addAndGet(-bytes);
      return false;
    }
    append(commit, bytes);
    if (load.getAndIncrement() == 0) {
      startOrRun(workingOff);
    }
    return true;
  }

  private void append(PendingCommit commit, long bytes) {
    try {
      queue.add(commit);
    } catch (Error noMemory) {
      queuedBytes.addAndGet(-bytes);
      throw noMemory;
    }
  }

  /** Runs {@code task} as a turn of the committer. Returns false if the committer is not idle. */
  public boolean tryTurn(Runnable task) {
    Runnable turn =
        () -> {
          try {
            task.run();
          } finally {
            finish(1);
          }
        };
    if (!load.compareAndSet(0, 1)) {
      return false;
    }
    startOrRun(turn);
    return true;
  }

  /**
   * Runs the turn on the caller's thread if no other is available. A turn that never runs would
   * leave every later commit waiting.
   */
  private void startOrRun(Runnable turn) {
    try {
      executor.execute(turn);
    } catch (RuntimeException | Error refused) {
      DaemonThreads.complain(
          LOG, "No thread is available; the committer runs on its caller's", refused);
      turn.run();
    }
  }

  public boolean isIdle() {
    return load.get() == 0;
  }

  private void finish(int done) {
    if (load.addAndGet(-done) > 0) {
      workOff();
    }
  }

  private void workOff() {
    boolean more = true;
    while (more) {
      List<PendingCommit> group = workOnGroup();
      more = load.addAndGet(-group.size()) > 0;
      if (more) {
        completeApart(group);
      } else {
        completeAll(group);
      }
    }
  }

  /** Catches everything, even a lack of memory, so that the committer continues. */
  private void completeApart(List<PendingCommit> group) {
    try {
      startOrRun(() -> completeAll(group));
    } catch (Throwable error) {
      completeAll(group);
    }
  }

  /**
   * Anything thrown ends only its own group, whose outcome is then unknown. To say so takes no
   * memory, because that may be what is missing.
   */
  private List<PendingCommit> workOnGroup() {
    List<PendingCommit> group = List.of();
    try {
      group = takeGroup();
      work.accept(group);
    } catch (Throwable error) {
      for (int i = 0; i < group.size(); i++) {
        group.get(i).doubt();
      }
      DaemonThreads.complain(LOG, "A group of commits failed", error);
      if (group.isEmpty()) {
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
    return group;
  }

  private static void completeAll(List<PendingCommit> group) {
    for (int i = 0; i < group.size(); i++) {
      complete(group.get(i));
    }
  }

  /**
   * Answers a commit, for which somebody waits: if need be once there is memory for it. A failure
   * of what depends on the answer ends nothing else.
   */
  private static void complete(PendingCommit commit) {
    try {
      commit.complete();
    } catch (Throwable error) {
      DaemonThreads.complain(LOG, "A commit could not be answered", error);
    }
    while (!commit.future().isDone()) {
      LockSupport.parkNanos(RETRY_NANOS);
      try {
        commit.complete();
      } catch (Throwable again) {
        // It is told once.
      }
    }
  }

  private List<PendingCommit> takeGroup() {
    // Take only counted commits. An uncounted one would bring the count to zero too early, and the
    // next commit would start a second committer beside this one.
    int counted = Math.min(load.get(), groupTransactions);
    List<PendingCommit> group = new ArrayList<>(counted);
    long bytes = 0;
    while (group.size() < counted) {
      PendingCommit next = queue.peek();
      if (bytes > 0 && bytes + next.bytes() > groupBytes) {
        break;
      }
      queue.poll();
      group.add(next);
      bytes += next.bytes();
    }
    queuedBytes.addAndGet(-bytes);
    return group;
  }

  /** A commit under way: the request, the future of its answer, and the answer once it is known. */
  public static final class PendingCommit {
    /** What a mutation and a conflict range take beside their bytes, about. */
    private static final int MUTATION_OVERHEAD = 12;

    private static final int RANGE_OVERHEAD = 16;

    private final CommitRequest request;
    private final CoveredKeys covered;
    private final long bytes;
    private final CompletableFuture<CommitReceipt> future = new CompletableFuture<>();
    private CommitReceipt receipt;
    private FDBException refusal;
    private boolean doubtful;

    public PendingCommit(CommitRequest request, CoveredKeys covered) {
      this.request = request;
      this.covered = covered;
      this.bytes = weigh(request) + covered.bytes();
    }

    private static long weigh(CommitRequest request) {
      long bytes = 0;
      for (Mutation mutation : request.mutations()) {
        bytes += mutation.bytes() + MUTATION_OVERHEAD;
      }
      return bytes
          + (long) RANGE_OVERHEAD
              * (request.readConflicts().size() + request.writeConflicts().size());
    }

    CommitRequest request() {
      return request;
    }

    /** Returns the keys of its clears, as listed when the commit was requested. */
    CoveredKeys covered() {
      return covered;
    }

    /** Returns the commit's size in the queue and in a group. */
    long bytes() {
      return bytes;
    }

    public CompletableFuture<CommitReceipt> future() {
      return future;
    }

    /** Notes the receipt of a commit whose group is not durable yet. */
    void accept(CommitReceipt accepted) {
      receipt = accepted;
    }

    void refuse(FDBException error) {
      refusal = error;
    }

    /** Refuses it for what befell its whole group, unless it was refused for itself before. */
    void refuseWithGroup(FDBException error) {
      if (refusal == null) {
        refusal = error;
      }
    }

    /** Notes that the outcome of the commit is unknown, unless it was refused before. */
    void doubt() {
      doubtful = true;
    }

    void complete() {
      if (refusal != null) {
        future.completeExceptionally(refusal);
      } else if (doubtful) {
        future.completeExceptionally(UNKNOWN.exception());
      } else {
        future.complete(receipt);
      }
    }
  }

  /**
   * The limits of a group of commits and of the queue.
   *
   * @param transactions the most commits that share one synced write
   * @param bytes the most bytes of mutations and conflict ranges that share one synced write
   * @param queuedBytes the bytes of waiting commits beyond which further ones fail with 1042
   */
  public record GroupLimits(int transactions, long bytes, long queuedBytes) {}
}
