package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.error.NotInMemoryException;

/**
 * Runs a body of reads and writes as one transaction, and again, with FoundationDB's back-off, as
 * long as it lost to others. Everything happens on the caller's thread.
 *
 * <p>A body may run several times, so it must keep nothing of an earlier run. What it throws that
 * is not an {@link FDBException} ends the transaction with nothing stored. On a store that may
 * answer a commit with an unknown result each write has an id (RFC 003), by which the next run
 * finds out whether an earlier one was stored: what is returned is always what the run gave that
 * was stored.
 */
public final class TransactionRunner {
  private final Database database;
  private final TransactionLimits limits;
  private final boolean callsMayHang;
  private final Optional<TransactionIds> ids;
  private final Optional<Supplier<Transaction>> inMemory;

  public TransactionRunner(Store store, TransactionLimits limits) {
    this(
        store.database(),
        limits,
        store.mayAnswerUnknownResult(),
        store.transactionIds(),
        store.memoryTransactions());
  }

  private TransactionRunner(
      Database database,
      TransactionLimits limits,
      boolean callsMayHang,
      Optional<TransactionIds> ids,
      Optional<Supplier<Transaction>> inMemory) {
    this.database = database;
    this.limits = limits;
    this.callsMayHang = callsMayHang;
    this.ids = ids;
    this.inMemory = inMemory;
  }

  /** For reads, for what may be stored twice, and for stores that always tell the result. */
  static TransactionRunner withoutIds(
      Database database, TransactionLimits limits, boolean callsMayHang) {
    return new TransactionRunner(
        database, limits, callsMayHang, Optional.empty(), Optional.empty());
  }

  /**
   * Runs and commits.
   *
   * @throws FDBException the first error that is not worth another run, or the last one when the
   *     limits are used up: nothing is stored
   * @throws LectusException what the body threw, or Unavailable when no commit was answered in
   *     time: nothing is stored; or InDoubt when the store could not be brought to tell whether it
   *     is
   */
  public <T> T run(Function<? super Transaction, ? extends T> body) {
    return this.<T>runVersioned(body).value();
  }

  /** As {@link #run}, with the versionstamp that the store gave the transaction. */
  public <T> Committed<T> runVersioned(Function<? super Transaction, ? extends T> body) {
    return runVersioned(body, value -> true);
  }

  /**
   * As {@link #runVersioned(Function)}, for a body that may find that there is nothing to write.
   *
   * @param writes whether a body that gave this value has written anything
   */
  public <T> Committed<T> runVersioned(
      Function<? super Transaction, ? extends T> body, Predicate<? super T> writes) {
    return ids.isPresent()
        ? repeat(new IdentifiedWrite<T>(ids.get(), body, writes))
        : repeat(new Repeated<>(tx -> commitVersioned(tx, body), RetryableErrors::isRetryable));
  }

  /**
   * As {@link #run}, for a body that does no harm when it is stored twice: it needs no id, and runs
   * again after an unknown result.
   *
   * @throws FDBException as {@link #run}, but whether the last run is stored remains open
   */
  public <T> T runIdempotent(Function<? super Transaction, ? extends T> body) {
    return repeat(
        new Repeated<>(
            tx -> {
              T value = body.apply(tx);
              Reads.await(tx.commit());
              return value;
            },
            code -> RetryableErrors.isRetryable(code) || RetryableErrors.isUnknownResult(code)));
  }

  /**
   * Reads at one read version. Nothing is committed and no conflict can arise, so the reads are
   * snapshot reads.
   */
  public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
    return repeat(new Repeated<>(tx -> body.apply(tx.snapshot()), RetryableErrors::isRetryable));
  }

  /**
   * As {@link #read}, once, and only where that takes nothing but memory: an event loop may call
   * it.
   *
   * @return what the body gives; empty, too, if it would have had to wait, or has to run again
   */
  public <T> Optional<T> readFromMemory(Function<? super ReadTransaction, Optional<T>> body) {
    if (inMemory.isEmpty()) {
      return Optional.empty();
    }
    try (Transaction transaction = inMemory.get().get()) {
      return body.apply(transaction.snapshot());
    } catch (RuntimeException wrapped) {
      RuntimeException failure = Reads.unwrapped(wrapped);
      if (failure instanceof NotInMemoryException || failure instanceof FDBException) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  /** Work that knows nothing but the run at hand. */
  private record Repeated<T>(
      Function<? super Transaction, ? extends T> body, IntPredicate retryable) implements Work<T> {
    @Override
    public T run(Transaction tx) {
      return body.apply(tx);
    }

    @Override
    public boolean mayFollow(int code) {
      return retryable.test(code);
    }

    @Override
    public T end(RuntimeException failure) {
      throw failure;
    }
  }

  private <T> T repeat(Work<T> work) {
    long startNanos = System.nanoTime();
    Duration time = Patience.limit(limits.time());
    Transaction transaction = begin(time);
    try {
      for (int retries = 0; ; retries++) {
        try {
          T value = work.run(transaction);
          Patience.answered();
          return value;
        } catch (RuntimeException wrapped) {
          RuntimeException failure = Reads.unwrapped(wrapped);
          Duration left = time.minusNanos(System.nanoTime() - startNanos);
          Optional<Transaction> next =
              retries < limits.retries() && left.compareTo(Duration.ZERO) > 0
                  ? next(work, transaction, failure, left)
                  : Optional.empty();
          if (next.isEmpty()) {
            return work.end(failure);
          }
          transaction = next.get();
        }
      }
    } finally {
      transaction.close();
    }
  }

  private Transaction begin(Duration time) {
    Transaction transaction = database.createTransaction();
    if (callsMayHang) {
      transaction.options().setTimeout(Math.max(1, time.toMillis()));
    }
    return transaction;
  }

  /**
   * The transaction for another run, after FoundationDB's back-off; empty if there is to be none.
   */
  private <T> Optional<Transaction> next(
      Work<T> work, Transaction transaction, RuntimeException failure, Duration left) {
    if (!(failure instanceof FDBException lost) || !work.mayFollow(lost.getCode())) {
      return Optional.empty();
    }
    if (RetryableErrors.isOver(lost.getCode())) {
      transaction.close();
      return Optional.of(begin(left));
    }
    try {
      return Optional.of(Reads.await(transaction.onError(lost)));
    } catch (FDBException timeIsUp) {
      return Optional.empty();
    }
  }

  private static <T> Committed<T> commitVersioned(
      Transaction transaction, Function<? super Transaction, ? extends T> body) {
    T value = body.apply(transaction);
    CompletableFuture<byte[]> versionstamp = transaction.getVersionstamp();
    try {
      Reads.await(transaction.commit());
    } catch (FDBException e) {
      if (RetryableErrors.isUnknownResult(e.getCode())) {
        throw RetryableErrors.unknownResult(Integer.toString(e.getCode()));
      }
      throw e;
    }
    return new Committed<>(value, versionstampOrNull(versionstamp));
  }

  private static byte[] versionstampOrNull(CompletableFuture<byte[]> versionstamp) {
    try {
      return Reads.await(versionstamp);
    } catch (FDBException e) {
      // The transaction wrote nothing.
      if (FoundationDbError.NO_COMMIT_VERSION.is(e.getCode())) {
        return null;
      }
      throw e;
    }
  }
}
