package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Runs a body of reads and writes as one transaction, and again, with FoundationDB's back-off, as
 * long as it lost to others. Everything happens on the caller's thread.
 *
 * <p>A body may run several times, so it must keep nothing of an earlier run. What it throws that
 * is not an {@link FDBException} ends the transaction with nothing stored. A commit whose result is
 * unknown is never run again, because its edits may be there already (RFC 003).
 */
public final class TransactionRunner {
  /** {@code getVersionstamp} of a transaction that wrote nothing. */
  private static final int NO_COMMIT_VERSION = 2021;

  private final Database database;
  private final TransactionLimits limits;
  private final boolean callsMayHang;

  public TransactionRunner(Store store, TransactionLimits limits) {
    this(store.database(), limits, store.mayAnswerUnknownResult());
  }

  TransactionRunner(Database database, TransactionLimits limits, boolean callsMayHang) {
    this.database = database;
    this.limits = limits;
    this.callsMayHang = callsMayHang;
  }

  /**
   * Runs and commits.
   *
   * @throws FDBException the first error that is not worth another run, or the last one when the
   *     limits are used up
   * @throws LectusException what the body threw, or Internal when the commit's result is unknown
   */
  public <T> T run(Function<? super Transaction, ? extends T> body) {
    return attempt(
        transaction -> {
          T value = body.apply(transaction);
          commit(transaction);
          return value;
        });
  }

  /** As {@link #run}, with the versionstamp that the store gave the transaction. */
  public <T> Committed<T> runVersioned(Function<? super Transaction, ? extends T> body) {
    return attempt(
        transaction -> {
          T value = body.apply(transaction);
          CompletableFuture<byte[]> versionstamp = transaction.getVersionstamp();
          commit(transaction);
          return new Committed<>(value, versionstampOrNull(versionstamp));
        });
  }

  /**
   * Reads at one read version. Nothing is committed and no conflict can arise, so the reads are
   * snapshot reads.
   */
  public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
    return attempt(transaction -> body.apply(transaction.snapshot()));
  }

  private <T> T attempt(Function<? super Transaction, ? extends T> work) {
    long startNanos = System.nanoTime();
    Transaction transaction = begin();
    try {
      for (int retries = 0; ; retries++) {
        try {
          return work.apply(transaction);
        } catch (RuntimeException failure) {
          FDBException lost = retryableOrThrow(failure, retries, startNanos);
          transaction = Reads.await(transaction.onError(lost));
        }
      }
    } finally {
      transaction.close();
    }
  }

  private Transaction begin() {
    Transaction transaction = database.createTransaction();
    if (callsMayHang) {
      transaction.options().setTimeout(limits.time().toMillis());
    }
    return transaction;
  }

  private FDBException retryableOrThrow(RuntimeException failure, int retries, long startNanos) {
    RuntimeException cause = Reads.unwrapped(failure);
    boolean mayRunAgain =
        retries < limits.retries() && System.nanoTime() - startNanos < limits.time().toNanos();
    if (mayRunAgain
        && cause instanceof FDBException lost
        && RetryableErrors.isRetryable(lost.getCode())) {
      return lost;
    }
    throw cause;
  }

  private static void commit(Transaction transaction) {
    try {
      Reads.await(transaction.commit());
    } catch (FDBException e) {
      if (RetryableErrors.isUnknownResult(e.getCode())) {
        throw unknownResult(e);
      }
      throw e;
    }
  }

  private static LectusException unknownResult(FDBException cause) {
    return new LectusException(
        new LectusError.Internal(
            "The store did not say whether the write was stored (" + cause.getCode() + ")."));
  }

  private static byte[] versionstampOrNull(CompletableFuture<byte[]> versionstamp) {
    try {
      return Reads.await(versionstamp);
    } catch (FDBException e) {
      if (e.getCode() == NO_COMMIT_VERSION) {
        return null;
      }
      throw e;
    }
  }
}
