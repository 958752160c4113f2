package lectus.store.embedded.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What waits for the committer, and the committer's turns: of all threads of the executor one at a
 * time works on the queue. While commits wait, their predecessors' futures are completed on another
 * thread; when none waits, on the committer's own, which saves a lone client the second wake-up.
 */
final class CommitQueue {
  private static final Logger LOG = LoggerFactory.getLogger(CommitQueue.class);

  private final Executor executor;
  private final Consumer<List<PendingCommit>> work;
  private final int groupTransactions;
  private final long groupBytes;
  private final long maxBytes;
  private final ConcurrentLinkedQueue<PendingCommit> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong queuedBytes = new AtomicLong();

  /** Made beforehand: once a commit is counted, nothing may fail for want of memory. */
  private final Runnable workingOff = this::workOff;

  /**
   * Commits that wait or are worked on, counted once they are in the queue, and one for a turn that
   * {@link #tryTurn} took. Who raises it from zero starts the committer.
   */
  private final AtomicInteger load = new AtomicInteger();

  CommitQueue(EngineOptions options, Executor executor, Consumer<List<PendingCommit>> work) {
    this.executor = executor;
    this.work = work;
    this.groupTransactions = options.groupTransactions();
    this.groupBytes = options.groupBytes();
    this.maxBytes = options.queuedBytes();
  }

  /** Appends a commit; false if too much waits already. */
  boolean offer(PendingCommit commit) {
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

  /** Has {@code task} run as a turn of the committer; false if the committer is not idle. */
  boolean tryTurn(Runnable task) {
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

  /** A turn that nobody took would leave every later commit waiting; no thread may be had. */
  private void startOrRun(Runnable turn) {
    try {
      executor.execute(turn);
    } catch (RuntimeException | Error refused) {
      complain("The committer gets no thread and works on its caller's", refused);
      turn.run();
    }
  }

  /** Whether nothing waits and nothing is worked on. */
  boolean isIdle() {
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

  /** Whatever is thrown, be it for want of memory: the committer goes on. */
  private void completeApart(List<PendingCommit> group) {
    try {
      startOrRun(() -> completeAll(group));
    } catch (Throwable error) {
      completeAll(group);
    }
  }

  /** Whatever is thrown ends its own group, of which nobody knows what is stored. */
  private List<PendingCommit> workOnGroup() {
    List<PendingCommit> group = List.of();
    try {
      group = takeGroup();
      work.accept(group);
    } catch (Throwable error) {
      group.forEach(commit -> commit.doubt(StoreErrors.commitUnknownResult()));
      complain("A group of commits failed", error);
    }
    return group;
  }

  /** What one answer sets off is no affair of the others. */
  private static void completeAll(List<PendingCommit> group) {
    for (PendingCommit commit : group) {
      try {
        commit.complete();
      } catch (Throwable error) {
        complain("The answer of a commit could not be given", error);
      }
    }
  }

  private static void complain(String what, Throwable error) {
    try {
      LOG.error(what, error);
    } catch (Throwable unsaid) {
      // There may be no memory to say so; the commits that follow count more.
    }
  }

  private List<PendingCommit> takeGroup() {
    // No more than are counted: with an uncounted one the count would reach zero too early, and
    // the next commit would start a second committer beside this one.
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
}
