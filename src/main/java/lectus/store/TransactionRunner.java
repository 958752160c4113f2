package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.error.NotInMemoryException;
import lectus.metrics.Counting;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.metrics.Stage;
import lectus.metrics.StageNotes;
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
  private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

  /** Of what ends a work after its last run. */
  private static final TransactionLimits SETTLING =
      new TransactionLimits(20, ReadTimeout.FOR_SETTLING);

  private final Database database;
  private final TransactionLimits limits;
  private final boolean callsMayHang;
  private final Optional<TransactionIds> ids;
  private final Optional<Supplier<Transaction>> inMemory;
  private final TransactionMetrics metrics;

  public TransactionRunner(Store store, TransactionLimits limits) {
    this.database = store.database();
    this.limits = limits;
    this.callsMayHang = store.mayAnswerUnknownResult();
    this.ids = store.transactionIds();
    this.inMemory = store.memoryTransactions();
    this.metrics = store.transactionFigures();
  }

  /**
   * Creates a runner for reads, for writes that may be stored twice, and for stores that always
   * report the result.
   */
  TransactionRunner(Database database, TransactionLimits limits, boolean callsMayHang) {
    this.database = database;
    this.limits = limits;
    this.callsMayHang = callsMayHang;
    this.ids = Optional.empty();
    this.inMemory = Optional.empty();
    this.metrics = new TransactionMetrics();
  }

  /**
   * The value of a committed transaction.
   *
   * @param versionstamp the transaction's 10 bytes (commit version and batch order, big-endian),
   *     which fill the placeholders of its versionstamped operations; null if the transaction wrote
   *     nothing
   */
  public record CommitResult<T>(T value, byte[] versionstamp) {}

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

  /** Like {@link #run}, for a body without a result. */
  public void write(Consumer<? super Transaction> body) {
    run(withoutResult(body));
  }

  /** Like {@link #runIdempotent}, for a body without a result. */
  public void writeIdempotent(Consumer<? super Transaction> body) {
    runIdempotent(withoutResult(body));
  }

  private static Function<Transaction, Void> withoutResult(Consumer<? super Transaction> body) {
    return tx -> {
      body.accept(tx);
      return null;
    };
  }

  /** Like {@link #run}, with the transaction's versionstamp. */
  public <T> CommitResult<T> runVersioned(Function<? super Transaction, ? extends T> body) {
    return this.<T>begin(body, value -> true).finish();
  }

  /**
   * Like {@link #runVersioned}, without waiting for the commit: the caller can do other work
   * meanwhile. {@link PendingTransaction#finish} throws what the body throws.
   *
   * @param writes whether a body that returned this value has written anything
   */
  public <T> PendingTransaction<CommitResult<T>> begin(
      Function<? super Transaction, ? extends T> body, Predicate<? super T> writes) {
    return ids.isPresent()
        ? begin(new IdentifiedWrite<T>(ids.get(), body, writes))
        : begin(new Repeated<>(tx -> commitVersioned(tx, body), FoundationDbError::isRetryable));
  }

  /**
   * Like {@link #run}, for a body that may safely be stored twice. It needs no id and runs again
   * after an unknown result.
   *
   * @throws FDBException as {@link #run}, but whether the last run is stored remains unknown
   */
  public <T> T runIdempotent(Function<? super Transaction, ? extends T> body) {
    Function<Transaction, Run<T>> committing =
        tx -> {
          T value = body.apply(tx);
          return Run.committing(tx.commit(), () -> value);
        };
    return begin(
            new Repeated<>(
                committing,
                code ->
                    FoundationDbError.isRetryable(code) || FoundationDbError.isUnknownResult(code)))
        .finish();
  }

  /**
   * Reads at one read version. Nothing is committed and no conflict can arise, so the reads are
   * snapshot reads.
   */
  public <T> T read(Function<? super ReadTransaction, ? extends T> body) {
    return this.<T>begin(
            new Repeated<>(tx -> Run.of(body.apply(tx.snapshot())), FoundationDbError::isRetryable))
        .finish();
  }

  /**
   * Like {@link #read}, at the read version of an earlier transaction for as long as the store
   * keeps it, some five seconds, and then at a new one. The body's transaction tells which.
   *
   * @param version empty: a new one
   */
  public <T> T readAt(OptionalLong version, Function<? super ReadTransaction, ? extends T> body) {
    return begin(new AtVersion<T>(version, body)).finish();
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

  /**
   * Whether a read is answered at once, so that a second one may depend on it at no cost. On a
   * cluster each is a round trip.
   */
  public static boolean isAnsweredAtOnce(ReadTransaction tx) {
    return EmbeddedDatabase.answers(tx);
  }

  /** The embedded store reads on the caller's thread, so all but memory's reads may wait. */
  private <T> PendingTransaction<T> begin(Work<T> work) {
    Awaiting.announce();
    return new PendingTransaction<>(work, this);
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
      return new CommitResult<>(value, Awaiting.awaitAnswer(versionstamp));
    } catch (FDBException e) {
      if (FoundationDbError.NO_COMMIT_VERSION.is(e.getCode())) {
        return new CommitResult<>(value, null);
      }
      throw FoundationDbError.isUnknownResult(e.getCode())
          ? StoreFailures.unknownResult(Integer.toString(e.getCode()))
          : e;
    }
  }

  /** Work that is repeated until it succeeds or another run is not worthwhile. */
  interface Work<T> {
    /** Runs once and starts the commit. */
    Run<T> run(Transaction tx);

    /** Returns whether another run may follow a failure with this code. */
    boolean mayFollow(int code);

    /**
     * Returns what is done instead, within {@link #SETTLING}, when no run follows; empty: nothing.
     *
     * @param failure not wrapped
     */
    default Optional<Work<T>> ending(RuntimeException failure) {
      return Optional.empty();
    }

    /**
     * Returns the failure that the caller is told when no run follows and nothing else is done.
     *
     * @param failure not wrapped
     */
    default RuntimeException told(RuntimeException failure) {
      return failure;
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
      return FoundationDbError.isRetryable(code);
    }
  }

  /**
   * One run of a {@link Work}, with its pending commit.
   *
   * @param commit fails if the run failed
   * @param versionstamp completes at about the time of the commit; any completed future if it is
   *     not needed
   * @param result waits for both, and throws the run's failure
   */
  record Run<T>(
      CompletableFuture<?> commit,
      CompletableFuture<?> versionstamp,
      Supplier<? extends T> result) {
    /** Returns a run that commits nothing. */
    static <T> Run<T> of(T value) {
      return new Run<>(NOTHING, NOTHING, () -> value);
    }

    /**
     * Returns a run whose versionstamp is not needed.
     *
     * @param value is asked for when the commit was stored
     */
    static <T> Run<T> committing(CompletableFuture<?> commit, Supplier<? extends T> value) {
      return new Run<>(
          commit,
          NOTHING,
          () -> {
            Awaiting.awaitAnswer(commit);
            return value.get();
          });
    }

    /** Returns a run that failed before its commit. */
    static <T> Run<T> failed(RuntimeException failure) {
      return committing(CompletableFuture.failedFuture(failure), () -> null);
    }

    /** Calls {@code then} on some thread as soon as {@code result} will not block. */
    void whenAnswered(Runnable then) {
      commit.whenComplete(
          (done, failure) -> {
            if (failure != null || versionstamp.isDone()) {
              then.run();
            } else {
              whenStamped(then);
            }
          });
    }

    /**
     * Waits for the versionstamp. If memory is too short to wait here, {@code result} waits
     * instead.
     */
    private void whenStamped(Runnable then) {
      try {
        versionstamp.whenComplete((stamp, none) -> then.run());
      } catch (Error noMemory) {
        then.run();
      }
    }

    boolean isCommitted() {
      return commit.isDone() && !commit.isCompletedExceptionally() && versionstamp.isDone();
    }
  }

  /**
   * A transaction whose first run is complete except for the answer to its commit. The caller goes
   * on with it whenever the store has answered, or finishes it by waiting, on any thread.
   */
  public static final class PendingTransaction<T> {
    private final TransactionRunner runner;
    private final long startNanos = System.nanoTime();
    private final StageNotes stages = StageNotes.current();
    private Work<T> work;
    private TransactionLimits limits;
    private Duration time;
    private long workNanos = startNanos;
    private int retries;
    private Transaction transaction;
    private Run<T> run;
    private long sentNanos;

    /** The pause before the next run, after a run that is to be repeated. */
    private Optional<CompletableFuture<Transaction>> pause = Optional.empty();

    private RuntimeException lost;
    private long pausedNanos;
    private boolean isOver;
    private T value;

    private PendingTransaction(Work<T> work, TransactionRunner runner) {
      this.runner = runner;
      begin(work, runner.limits);
      runner.metrics.begin();
      this.run = run();
    }

    private void begin(Work<T> next, TransactionLimits itsLimits) {
      work = next;
      limits = itsLimits;
      time = ReadTimeout.limit(limits.time());
      transaction = runner.transaction(time);
    }

    /** Keeps the run's exception for {@link #goOn} to handle. */
    private Run<T> run() {
      try {
        Run<T> next = work.run(transaction);
        sentNanos = System.nanoTime();
        return next;
      } catch (RuntimeException failure) {
        return Run.failed(failure);
      } catch (Error error) {
        transaction.close();
        throw error;
      }
    }

    /** Calls {@code then} once, on some thread, when {@link #goOn} will not wait. */
    public void whenAnswered(Runnable then) {
      if (pause.isPresent()) {
        pause.get().whenComplete((again, timeIsUp) -> then.run());
      } else {
        run.whenAnswered(then);
      }
    }

    /** Returns whether the run is committed. If so, {@link #goOn} ends the work. */
    public boolean isCommitted() {
      return pause.isEmpty() && run.isCommitted();
    }

    /**
     * Waits for the answer, and repeats the work after conflicts.
     *
     * @throws FDBException as {@link TransactionRunner#run}
     * @throws LectusException as {@link TransactionRunner#run}
     */
    public T finish() {
      while (!isOver) {
        goOn();
      }
      return value;
    }

    /**
     * Takes the store's answer: ends the work, or begins what follows. After {@link #whenAnswered}
     * it waits for no commit and no pause, only for what another run reads.
     *
     * @return what {@link #finish} returns; empty if the store is to answer again
     * @throws FDBException as {@link #finish}; then the work is over
     * @throws LectusException as {@link #finish}; then the work is over
     */
    public Optional<T> goOn() {
      boolean goesOn = false;
      try {
        goesOn = pause.isPresent() ? runAfterPause() : runAfterAnswer();
      } finally {
        if (!goesOn) {
          isOver = true;
          stages.end(Stage.TRANSACTION, startNanos);
          transaction.close();
        }
      }
      return goesOn ? Optional.empty() : Optional.ofNullable(value);
    }

    /** Returns whether another answer is to come. */
    private boolean runAfterAnswer() {
      RuntimeException failure;
      try {
        value = run.result().get();
        ReadTimeout.answered();
        noteCommit();
        return false;
      } catch (RuntimeException wrapped) {
        failure = Awaiting.unwrapped(wrapped);
      }
      runner.metrics.lost(failure);
      if (!mayFollow(failure) || !follows(failure)) {
        end(failure);
      }
      return true;
    }

    private void noteCommit() {
      if (run.commit() != NOTHING) {
        long now = System.nanoTime();
        runner.metrics.commits.add(now - sentNanos);
        stages.add(Stage.COMMIT, sentNanos, now);
      }
    }

    private boolean mayFollow(RuntimeException failure) {
      return retries < limits.retries()
          && left().compareTo(Duration.ZERO) > 0
          && failure instanceof FDBException known
          && work.mayFollow(known.getCode());
    }

    private Duration left() {
      return time.minusNanos(System.nanoTime() - workNanos);
    }

    /** Begins another run, or the pause before it. Returns false if the store is closed. */
    private boolean follows(RuntimeException failure) {
      try {
        if (FoundationDbError.isOver(((FDBException) failure).getCode())) {
          transaction.close();
          transaction = runner.transaction(left());
          repeat();
        } else {
          lost = failure;
          pausedNanos = stages.begin();
          pause = Optional.of(transaction.onError(failure));
        }
        return true;
      } catch (IllegalStateException closed) {
        return false;
      }
    }

    private boolean runAfterPause() {
      CompletableFuture<Transaction> paused = pause.orElseThrow();
      pause = Optional.empty();
      boolean again = false;
      try {
        transaction = Awaiting.awaitAnswer(paused);
        again = true;
      } catch (FDBException | IllegalStateException timeIsUpOrClosed) {
        // The failure before the pause ends the work.
      }
      stages.end(Stage.RETRY, pausedNanos);
      if (again) {
        repeat();
      } else {
        end(lost);
      }
      return true;
    }

    private void repeat() {
      retries++;
      runner.metrics.retries.increment();
      run = run();
    }

    /** Begins what the work does when no run follows. */
    private void end(RuntimeException failure) {
      Optional<Work<T>> ending = work.ending(failure);
      if (ending.isEmpty()) {
        runner.metrics.failed.increment();
        throw work.told(failure);
      }
      workNanos = System.nanoTime();
      retries = 0;
      transaction.close();
      try {
        begin(ending.get(), SETTLING);
      } catch (IllegalStateException closed) {
        runner.metrics.failed.increment();
        throw work.told(closed);
      }
      run = run();
    }
  }

  /** What has become of a store's transactions. Thread-safe. */
  public static final class TransactionMetrics implements Measured {
    private final LongAdder begun = new LongAdder();
    private final LongAdder conflicts = new LongAdder();
    final LongAdder retries = new LongAdder();
    private final LongAdder unknown = new LongAdder();
    final LongAdder failed = new LongAdder();
    final Histogram commits = Histogram.ofTimes();

    void begin() {
      if (Counting.IS_ON) {
        begun.increment();
      }
    }

    /** A run ended with a failure; another one may follow. */
    void lost(RuntimeException failure) {
      if (failure instanceof FDBException lost) {
        if (FoundationDbError.NOT_COMMITTED.is(lost.getCode())) {
          conflicts.increment();
        } else if (FoundationDbError.isUnknownResult(lost.getCode())) {
          unknown.increment();
        }
      }
    }

    public long commits() {
      return commits.state().count();
    }

    @Override
    public void describe(Meters meters) {
      meters.count("lectus_transactions", "Transactions begun, reads included.", begun::sum);
      meters.count("lectus_transaction_conflicts", "Runs that met a conflict.", conflicts::sum);
      meters.count("lectus_transaction_retries", "Runs after the first one.", retries::sum);
      meters.count(
          "lectus_transaction_unknown_results",
          "Commits of which the store did not say whether they are stored.",
          unknown::sum);
      meters.count(
          "lectus_transaction_failures",
          "Transactions that ended with an error, be it the client's.",
          failed::sum);
      meters.spread(
          "lectus_commit_seconds", "From a commit's sending to the store's answer.", commits);
    }
  }
}
