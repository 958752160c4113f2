package lectus.store.embedded;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.DatabaseOptions;
import com.apple.foundationdb.EventKeeper;
import com.apple.foundationdb.KeyRangeArrayResult;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Tenant;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.Tuple;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.store.embedded.AttemptOptions.DatabaseSettings;
import lectus.store.embedded.AttemptOptions.RetryPolicy;
import lectus.store.embedded.EmbeddedTransaction.SnapshotView;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.ReadOnlyEngine;
import lectus.store.embedded.engine.RocksEngine;

/**
 * FoundationDB's {@link Database} in process: its transactions run on an {@link Engine}, and reads
 * run on the calling thread. Features that only a cluster has (tenants, blob granules, mapped
 * ranges) throw UnsupportedOperationException.
 */
public final class EmbeddedDatabase implements Database {
  final EmbeddedOptions runtime;
  final DatabaseSettings settings = new DatabaseSettings();
  final Watches watches;
  private final Engine engine;
  private final Executor executor;
  final LongSupplier nanoTime;
  private final DatabaseOptions options = new DatabaseOptions(settings);
  private final long firstVersion;
  private volatile boolean closed;

  private EmbeddedDatabase(Engine engine, EmbeddedOptions runtime) {
    this.engine = engine;
    this.runtime = runtime;
    this.executor = runtime.executor();
    this.nanoTime = runtime.nanoTime();
    this.firstVersion = engine.readVersion();
    this.watches = new Watches(engine, settings, executor);
  }

  /**
   * Opens the store in {@code directory}. Creates it if the directory is missing or empty.
   *
   * @throws lectus.error.StoreOpenException if it cannot be opened; nothing was changed then
   */
  public static EmbeddedDatabase open(Path directory, EmbeddedOptions options) {
    return on(RocksEngine.open(directory, options.engine()), options);
  }

  /**
   * Opens the stopped store in {@code directory} for reading. Nothing in it changes, and commits of
   * transactions that wrote fail with 2000.
   *
   * @throws lectus.error.StoreOpenException if there is no store, or a process has it open
   */
  public static EmbeddedDatabase openReadOnly(Path directory, EmbeddedOptions options) {
    return on(ReadOnlyEngine.open(directory, options.engine()), options);
  }

  /** Creates a database on an engine. Closing the database closes the engine. */
  public static EmbeddedDatabase on(Engine engine, EmbeddedOptions options) {
    EmbeddedDatabase database = new EmbeddedDatabase(engine, options);
    engine.onPublish(version -> database.watches.published());
    return database;
  }

  @Override
  public Transaction createTransaction(Executor executor) {
    return createTransaction(executor, null);
  }

  /**
   * Creates a transaction whose reads throw {@link lectus.error.NotInMemoryException} instead of
   * waiting for the disk. Its range reads always throw.
   */
  public Transaction createMemoryTransaction() {
    Attempt attempt = attempt(executor, null);
    attempt.options.memoryOnly = true;
    return new EmbeddedTransaction(attempt);
  }

  /**
   * Whether reads are those of an embedded database, which are answered by the thread that asks.
   */
  public static boolean answers(ReadTransaction reads) {
    return reads instanceof EmbeddedTransaction || reads instanceof SnapshotView;
  }

  private Attempt attempt(Executor executor, EventKeeper events) {
    checkOpen();
    return attempt(executor, events, new RetryPolicy(settings, nanoTime.getAsLong()));
  }

  Attempt attempt(Executor executor, EventKeeper events, RetryPolicy policy) {
    Attempt attempt = new Attempt(this, executor, events, policy);
    if (policy.hasTimeout()) {
      attempt.armTimeout();
    }
    return attempt;
  }

  /**
   * Creates a transaction that tells an event keeper, unless that is null, what it reads. Events of
   * fdb-java's native code do not occur.
   */
  @Override
  public Transaction createTransaction(Executor executor, EventKeeper eventKeeper) {
    return new EmbeddedTransaction(attempt(executor, eventKeeper));
  }

  @Override
  public DatabaseOptions options() {
    checkOpen();
    return options;
  }

  @Override
  public Executor getExecutor() {
    return executor;
  }

  /** Returns 0, because there is no network thread. */
  @Override
  public double getMainThreadBusyness() {
    return 0;
  }

  /**
   * Runs a body in transactions until one commits or fails with an error that is not retryable.
   *
   * @throws java.util.concurrent.CompletionException wraps the failure of the body, the commit or
   *     onError
   */
  @Override
  public <T> T run(Function<? super Transaction, T> body, Executor executor) {
    Transaction transaction = createTransaction(executor);
    try {
      while (true) {
        try {
          T result = body.apply(transaction);
          transaction.commit().join();
          return result;
        } catch (RuntimeException error) {
          transaction = transaction.onError(error).join();
        }
      }
    } finally {
      transaction.close();
    }
  }

  @Override
  public <T> CompletableFuture<T> runAsync(
      Function<? super Transaction, ? extends CompletableFuture<T>> body, Executor executor) {
    AtomicReference<Transaction> current = new AtomicReference<>(createTransaction(executor));
    return attempt(body, current, executor).whenComplete((result, error) -> current.get().close());
  }

  private static <T> CompletableFuture<T> attempt(
      Function<? super Transaction, ? extends CompletableFuture<T>> body,
      AtomicReference<Transaction> current,
      Executor executor) {
    Transaction transaction = current.get();
    return applied(body, transaction)
        .thenComposeAsync(result -> transaction.commit().thenApply(committed -> result), executor)
        .handleAsync(
            (result, error) ->
                error == null
                    ? CompletableFuture.completedFuture(result)
                    : retry(error, body, current, executor),
            executor)
        .thenCompose(Function.identity());
  }

  private static <T> CompletableFuture<T> retry(
      Throwable error,
      Function<? super Transaction, ? extends CompletableFuture<T>> body,
      AtomicReference<Transaction> current,
      Executor executor) {
    if (!(error instanceof RuntimeException)) {
      return CompletableFuture.failedFuture(error);
    }
    return current
        .get()
        .onError(error)
        .thenCompose(
            next -> {
              current.set(next);
              return attempt(body, current, executor);
            });
  }

  @Override
  public <T> T read(Function<? super ReadTransaction, T> body, Executor executor) {
    return run(body, executor);
  }

  @Override
  public <T> CompletableFuture<T> readAsync(
      Function<? super ReadTransaction, ? extends CompletableFuture<T>> body, Executor executor) {
    return runAsync(body, executor);
  }

  public Engine engine() {
    return engine;
  }

  /** Returns the version at which it was opened: what has a lower one, an earlier process wrote. */
  public long firstVersion() {
    return firstVersion;
  }

  /**
   * @throws IllegalStateException if the database is closed
   */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("The database is closed");
    }
  }

  <T> CompletableFuture<T> after(long delayNanos, Executor executor, Supplier<T> supplier) {
    checkOpen();
    CompletableFuture<T> result = new CompletableFuture<>();
    runtime
        .timer()
        .schedule(
            () -> result.completeAsync(supplier, work -> callBack(executor, work)),
            delayNanos,
            TimeUnit.NANOSECONDS);
    return result;
  }

  /**
   * Waits for requested commits and reads under way, then closes the engine. Active watches fail
   * with 1025; all other later use throws IllegalStateException.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    watches.close();
    runtime.timer().shutdown();
    engine.close();
  }

  // ---- features of a cluster only -----------------------------------------------------------

  private static UnsupportedOperationException noTenants() {
    return new UnsupportedOperationException("The embedded store has no tenants");
  }

  private static UnsupportedOperationException noBlobGranules() {
    return new UnsupportedOperationException("The embedded store has no blob granules");
  }

  @Override
  public Tenant openTenant(Tuple tenantName) {
    throw noTenants();
  }

  @Override
  public Tenant openTenant(byte[] tenantName, Executor executor) {
    throw noTenants();
  }

  @Override
  public Tenant openTenant(Tuple tenantName, Executor executor) {
    throw noTenants();
  }

  @Override
  public Tenant openTenant(byte[] tenantName, Executor executor, EventKeeper eventKeeper) {
    throw noTenants();
  }

  @Override
  public Tenant openTenant(Tuple tenantName, Executor executor, EventKeeper eventKeeper) {
    throw noTenants();
  }

  @Override
  public CompletableFuture<byte[]> purgeBlobGranules(
      byte[] begin, byte[] end, long purgeVersion, boolean force, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<Void> waitPurgeGranulesComplete(byte[] purgeKey, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<Boolean> blobbifyRange(byte[] begin, byte[] end, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<Boolean> blobbifyRangeBlocking(
      byte[] begin, byte[] end, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<Boolean> unblobbifyRange(byte[] begin, byte[] end, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<KeyRangeArrayResult> listBlobbifiedRanges(
      byte[] begin, byte[] end, int rangeLimit, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<Long> verifyBlobRange(
      byte[] begin, byte[] end, long version, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<Boolean> flushBlobRange(
      byte[] begin, byte[] end, boolean compact, long version, Executor executor) {
    throw noBlobGranules();
  }

  @Override
  public CompletableFuture<byte[]> getClientStatus(Executor executor) {
    throw new UnsupportedOperationException("The embedded store has no client connections");
  }

  // ---- in place of fdb-java's AsyncUtil, which loads native code -----------------------------

  /**
   * Runs a callback on an executor. If the executor refuses, the callback runs at once: somebody
   * waits for what it completes.
   */
  static void callBack(Executor executor, Runnable callback) {
    try {
      executor.execute(callback);
    } catch (RuntimeException | Error refused) {
      callback.run();
    }
  }

  /** Calls a function that returns a future. Its exception becomes the future's failure. */
  static <A, T> CompletableFuture<T> applied(
      Function<? super A, ? extends CompletableFuture<T>> body, A argument) {
    try {
      return body.apply(argument);
    } catch (RuntimeException error) {
      return CompletableFuture.failedFuture(error);
    }
  }
}
