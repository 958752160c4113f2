package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.error.NotInMemoryException;
import lectus.store.embedded.EmbeddedDatabase;

/**
 * Runs a body of reads and writes as one transaction and repeats it, with FoundationDB's back-off,
 * after conflicts. Everything happens on the caller's thread.
 *
 * <p>A body may run several times, so it must keep nothing from an earlier run. An exception other
 * than {@link FDBException} ends the transaction, and nothing is stored. On a store whose commits
 * may have an unknown result, each write has an id (RFC 003), by which the next run finds out
 * whether an earlier one was stored. The returned value always comes from the run that was stored.
 */
public final class TransactionRunner {
  private final Database database;
  private final TransactionLimits limits;
  private final boolean callsMayHang;
  private final Optional<TransactionIds> ids;
  private final Optional<Supplier<Transaction>> inMemory;
  private final TransactionMetrics figures;

  public TransactionRunner(Store store, TransactionLimits limits) {
    this(
        store.database(),
        limits,
        store.mayAnswerUnknownResult(),
        store.transactionIds(),
        store.memoryTransactions(),
        store.transactionFigures());
  }

  private TransactionRunner(
      Database database,
      TransactionLimits limits,
      boolean callsMayHang,
      Optional<TransactionIds> ids,
      Optional<Supplier<Transaction>> inMemory,
      TransactionMetrics figures) {
    this.database = database;
    this.limits = limits;
    this.callsMayHang = callsMayHang;
    this.ids = ids;
    this.inMemory = inMemory;
    this.figures = figures;
  }

  /**
   * Returns a runner for reads, for writes that may be stored twice, and for stores that always
   * report the result.
   */
  static TransactionRunner withoutIds(
      Database database, TransactionLimits limits, boolean callsMayHang) {
    return new TransactionRunner(
        database,
        limits,
        callsMayHang,
        Optional.empty(),
        Optional.empty(),
        new TransactionMetrics());
  }

  /**
   * Runs the body and commits.
   *
   * @throws FDBException the first error that is not retryable, or the last error when the limits
   *     are used up: nothing is stored
   * @throws LectusException the body's own exception, or Unavailable if no commit was answered in
   *     time: nothing is stored; or InDoubt if the store could not be made to tell whether it is
   */
  public <T> T run(Function<? super Transaction, ? extends T> body) {
    return this.<T>runVersioned(body).value();
  }

  /** Like {@link #run}, with the transaction's versionstamp. */
  public <T> CommitResult<T> runVersioned(Function<? super Transaction, ? extends T> body) {
    return runVersioned(body, value -> true);
  }

  /**
   * Like {@link #runVersioned(Function)}, for a body that may find nothing to write.
   *
   * @param writes whether a body that returned this value has written anything
   */
  public <T> CommitResult<T> runVersioned(
      Function<? super Transaction, ? extends T> body, Predicate<? super T> writes) {
    return this.<T>begin(body, writes).finish();
  }

  /**
   * Like {@link #runVersioned(Function, Predicate)}, without waiting for the commit: the caller can
   * do other work meanwhile. {@link PendingTransaction#finish} throws what the body throws.
   */
  public <T> PendingTransaction<CommitResult<T>> begin(
      Function<? super Transaction, ? extends T> body, Predicate<? super T> writes) {
    return ids.isPresent()
        ? begin(new IdentifiedWrite<T>(ids.get(), body, writes))
        : begin(new Repeated<>(tx -> commitVersioned(tx, body), RetryableErrors::isRetryable));
  }

  /**
   * Like {@link #run}, for a body that may safely be stored twice. It needs no id and runs again
   * after an unknown result.
   *
   * @throws FDBException as {@link #run}, but whether the last run is stored remains unknown
   */
  public <T> T runIdempotent(Function<? super Transaction, ? extends T> body) {
    return repeat(
        new Repeated<>(
            tx -> {
              T value = body.apply(tx);
              return Run.committing(tx.commit(), value);
            },
            code -> RetryableErrors.isRetryable(code) || RetryableErrors.isUnknownResult(code)));
  }

  /**
   * Reads at one read version. Nothing is committed and no conflict can arise, so the reads are
   * snapshot reads.
   */
  public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
    return readAt(OptionalLong.empty(), body);
  }

  /**
   * Like {@link #read}, at the read version of an earlier transaction for as long as the store
   * keeps it, some five seconds, and then at a new one. The body's transaction tells which.
   *
   * @param version empty: a new one
   */
  public <T> T readAt(OptionalLong version, Function<? super ReadTransaction, ? extends T> body) {
    return repeat(new AtVersion<>(version, body));
  }

  /** Reads at a version that may be too old. */
  private static final class AtVersion<T> implements Work<T> {
    private final Function<? super ReadTransaction, ? extends T> body;
    private OptionalLong version;

    AtVersion(OptionalLong version, Function<? super ReadTransaction, ? extends T> body) {
      this.version = version;
      this.body = body;
    }

    @Override
    public Run<T> run(Transaction tx) {
      version.ifPresent(tx::setReadVersion);
      return Run.of(body.apply(tx.snapshot()));
    }

    @Override
    public boolean mayFollow(int code) {
      if (FoundationDbError.TRANSACTION_TOO_OLD.is(code)) {
        version = OptionalLong.empty();
      }
      return RetryableErrors.isRetryable(code);
    }
  }

  /**
   * Like {@link #read}, but runs once and from memory only, so an event loop may call it.
   *
   * @return the body's result; also empty if a read would have had to wait or the body would have
   *     to run again
   */
  public <T> Optional<T> readFromMemory(Function<? super ReadTransaction, Optional<T>> body) {
    if (inMemory.isEmpty()) {
      return Optional.empty();
    }
    try (Transaction transaction = inMemory.get().get()) {
      return body.apply(transaction.snapshot());
    } catch (RuntimeException wrapped) {
      RuntimeException failure = Awaiting.unwrapped(wrapped);
      if (failure instanceof NotInMemoryException || failure instanceof FDBException) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  /**
   * Lets a transaction that frees space commit while the embedded store's disk is short of it. A
   * cluster keeps a reserve by itself, and there the option would put the transaction before all
   * others.
   */
  public static void freesSpace(Transaction tx) {
    if (tx.getDatabase() instanceof EmbeddedDatabase) {
      tx.options().setPrioritySystemImmediate();
    }
  }

  /** Work that needs no memory of earlier runs. */
  private record Repeated<T>(Function<? super Transaction, Run<T>> body, IntPredicate retryable)
      implements Work<T> {
    @Override
    public Run<T> run(Transaction tx) {
      return body.apply(tx);
    }

    @Override
    public boolean mayFollow(int code) {
      return retryable.test(code);
    }
  }

  private <T> T repeat(Work<T> work) {
    return begin(work).finish();
  }

  /** The embedded store reads on the caller's thread, so all but memory's reads may wait. */
  private <T> PendingTransaction<T> begin(Work<T> work) {
    Waits.announce();
    return new PendingTransaction<>(work, limits, this::transaction, figures);
  }

  private Transaction transaction(Duration time) {
    Transaction transaction = database.createTransaction();
    if (callsMayHang) {
      transaction.options().setTimeout(Math.max(1, time.toMillis()));
    }
    return transaction;
  }

  private static <T> Run<CommitResult<T>> commitVersioned(
      Transaction transaction, Function<? super Transaction, ? extends T> body) {
    T value = body.apply(transaction);
    CompletableFuture<byte[]> versionstamp = transaction.getVersionstamp();
    CompletableFuture<Void> commit = transaction.commit();
    return new Run<>(commit, versionstamp, () -> committed(value, commit, versionstamp));
  }

  private static <T> CommitResult<T> committed(
      T value, CompletableFuture<Void> commit, CompletableFuture<byte[]> versionstamp) {
    try {
      Awaiting.awaitAnswer(commit);
    } catch (FDBException e) {
      if (RetryableErrors.isUnknownResult(e.getCode())) {
        throw RetryableErrors.unknownResult(Integer.toString(e.getCode()));
      }
      throw e;
    }
    return new CommitResult<>(value, versionstampOrNull(versionstamp));
  }

  private static byte[] versionstampOrNull(CompletableFuture<byte[]> versionstamp) {
    try {
      return Awaiting.awaitAnswer(versionstamp);
    } catch (FDBException e) {
      // The transaction wrote nothing.
      if (FoundationDbError.NO_COMMIT_VERSION.is(e.getCode())) {
        return null;
      }
      throw e;
    }
  }
}
