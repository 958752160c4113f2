package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;

/**
 * Hands out the ids of one process's writes. Clears them in the background once no writer will ask
 * for them (RFC 003, Handling of Unknown Commit Results).
 *
 * <p>A process that dies leaves ids behind, and every process sweeps old ids. An id's age is
 * measured in the store's versions, never by a clock. The sweep takes an id only after the store
 * has advanced by more than {@link #KEPT_VERSIONS}, and a writer trusts the absence of an id only
 * within that many versions. So neither a wrong clock nor a process that slept can make a write
 * happen twice.
 */
final class TransactionIds implements AutoCloseable {
  /** Ten minutes at a cluster's usual million a second. A cluster's recovery takes 10^8. */
  static final long KEPT_VERSIONS = 600_000_000;

  private static final Duration BETWEEN_CLEARS = Duration.ofSeconds(3);
  private static final Duration BETWEEN_SWEEPS = Duration.ofMinutes(10);

  /** Ids beyond this limit are left to the sweep. */
  static final int MAX_WAITING = 200_000;

  /** About one megabyte in a transaction. */
  private static final int CLEARED_AT_ONCE = 10_000;

  private static final int SWEPT_AT_ONCE = 1_000;
  private static final int ID_LENGTH = 16;
  private static final TransactionLimits BRIEFLY = new TransactionLimits(20, Duration.ofSeconds(5));

  private final TransactionIdSubspace subspace;
  private final TransactionRunner transactions;
  private final Executor later;
  private final Tasks tasks;
  final BlockingQueue<byte[]> finished = new LinkedBlockingQueue<>(MAX_WAITING);
  private final AtomicBoolean clearing = new AtomicBoolean();
  private final long process = new SecureRandom().nextLong();
  private final AtomicLong count = new AtomicLong();
  private boolean closed;
  private long sweptNanos;
  private boolean swept;

  /**
   * @param later clears ids on a thread of its own
   */
  TransactionIds(Database database, byte[] root, Executor later, Tasks tasks) {
    this.subspace = new TransactionIdSubspace(root);
    this.transactions = new TransactionRunner(database, BRIEFLY, true);
    this.later = later;
    this.tasks = tasks;
  }

  /** Returns an executor whose thread exists only while there is something to clear. */
  static Executor afterAWhile() {
    Executor thread = DaemonThreads.pool(1, 1, DaemonThreads.named("lectus-transaction-ids"));
    return CompletableFuture.delayedExecutor(
        BETWEEN_CLEARS.toMillis(), TimeUnit.MILLISECONDS, thread);
  }

  TransactionIdSubspace subspace() {
    return subspace;
  }

  /** Returns an id that no other write of any process has. */
  byte[] next() {
    return ByteBuffer.allocate(ID_LENGTH).putLong(process).putLong(count.incrementAndGet()).array();
  }

  /** Notes that no writer will ask for the id any more. */
  void finished(byte[] id) {
    boolean waits = finished.offer(id);
    if (waits && clearing.compareAndSet(false, true)) {
      clearLater();
    }
  }

  /**
   * Clears the finished ids on another thread. The write is stored whatever becomes of its id; if
   * no thread is available, the next write asks again.
   */
  private void clearLater() {
    try {
      later.execute(this::clearAndSweep);
    } catch (RuntimeException | Error refused) {
      clearing.set(false);
    }
  }

  private synchronized void clearAndSweep() {
    clearing.set(false);
    if (closed) {
      return;
    }
    clearFinished();
    if (!swept || System.nanoTime() - sweptNanos > BETWEEN_SWEEPS.toNanos()) {
      swept = true;
      sweptNanos = System.nanoTime();
      sweep();
    }
  }

  /** Clears the ids of all finished writes, as many in each transaction as fit. */
  synchronized void clearFinished() {
    List<byte[]> batch = new ArrayList<>();
    while (finished.drainTo(batch, CLEARED_AT_ONCE) > 0) {
      if (!succeeds(() -> clear(batch))) {
        return;
      }
      batch.clear();
    }
  }

  private void clear(List<byte[]> batch) {
    transactions.writeIdempotent(tx -> batch.forEach(id -> clear(tx, subspace.key(id))));
  }

  /** Clears ids left behind by processes that died. */
  void sweep() {
    Range range = subspace.range();
    succeeds(
        () -> {
          try (RunningTask sweep = tasks.begin("transaction_id_sweep")) {
            Optional<byte[]> begin = Optional.of(range.begin);
            while (begin.isPresent()) {
              byte[] from = begin.get();
              begin = transactions.runIdempotent(tx -> sweep(tx, from, range.end));
              sweep.advance(SWEPT_AT_ONCE);
            }
          }
        });
  }

  /** Returns where to continue. */
  private static Optional<byte[]> sweep(Transaction tx, byte[] begin, byte[] end) {
    long now = Awaiting.await(tx.getReadVersion());
    List<KeyValue> page =
        Awaiting.await(tx.snapshot().getRange(begin, end, SWEPT_AT_ONCE).asList());
    for (KeyValue row : page) {
      if (isOld(row.getValue(), now)) {
        clear(tx, row.getKey());
      }
    }
    return page.size() < SWEPT_AT_ONCE
        ? Optional.empty()
        : Optional.of(ByteArrayUtil.join(page.get(page.size() - 1).getKey(), new byte[1]));
  }

  private static boolean isOld(byte[] value, long now) {
    try {
      return now - TransactionIdSubspace.trace(value).version() > KEPT_VERSIONS;
    } catch (MalformedTupleException ofANewerServer) {
      return false;
    }
  }

  /**
   * Needs no conflict range: the id was written after the read version of any late attempt, so that
   * attempt conflicts anyway.
   */
  private static void clear(Transaction tx, byte[] key) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(key);
  }

  /** Returns whether the clearing succeeded. A later sweep takes the rest. */
  private static boolean succeeds(Runnable clearing) {
    try {
      clearing.run();
      return true;
    } catch (FDBException | LectusException | IllegalStateException failure) {
      return false;
    }
  }

  /** Clears what is still waiting, as far as possible. */
  @Override
  public synchronized void close() {
    closed = true;
    clearFinished();
  }
}
