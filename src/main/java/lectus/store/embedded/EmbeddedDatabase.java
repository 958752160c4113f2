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
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.metrics.Meters;
import lectus.metrics.Tasks;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.ReadOnlyEngine;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.embedded.engine.folder.DataFolder;

/**
 * FoundationDB's {@link Database} in process: its transactions run on an {@link Engine}, and reads
 * run on the calling thread. Features that only a cluster has (tenants, blob granules, mapped
 * ranges) throw UnsupportedOperationException.
 */
public final class EmbeddedDatabase implements Database {
  private final EmbeddedOptions runtime;
  private final Environment environment;
  private final DatabaseOptions options;
  private final RetryLoop retryLoop = new RetryLoop(this);

  private EmbeddedDatabase(Engine engine, EmbeddedOptions runtime) {
    this.runtime = runtime;
    DatabaseSettings settings = new DatabaseSettings();
    environment =
        new Environment(
            engine,
            runtime.timer(),
            runtime.random(),
            runtime.nanoTime(),
            settings,
            new Watches(engine, settings, runtime.executor()),
            new OpenState());
    options = new DatabaseOptions(settings);
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

  /** Whether a directory has a store. */
  public static boolean isIn(Path directory) {
    return DataFolder.isStore(directory);
  }

  /** Creates a database on an engine. Closing the database closes the engine. */
  public static EmbeddedDatabase on(Engine engine, EmbeddedOptions options) {
    EmbeddedDatabase database = new EmbeddedDatabase(engine, options);
    engine.onPublish(version -> database.environment.watches().published());
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
    Attempt attempt = attempt(runtime.executor(), null);
    attempt.options.memoryOnly = true;
    return new EmbeddedTransaction(this, attempt);
  }

  private Attempt attempt(Executor executor, EventKeeper events) {
    environment.open().check();
    RetryPolicy policy =
        new RetryPolicy(environment.settings(), environment.nanoTime().getAsLong());
    Attempt attempt = new Attempt(environment, executor, events, policy);
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
    return new EmbeddedTransaction(this, attempt(executor, eventKeeper));
  }

  @Override
  public DatabaseOptions options() {
    environment.open().check();
    return options;
  }

  @Override
  public Executor getExecutor() {
    return runtime.executor();
  }

  /** Returns 0, because there is no network thread. */
  @Override
  public double getMainThreadBusyness() {
    return 0;
  }

  @Override
  public <T> T run(Function<? super Transaction, T> body, Executor executor) {
    return retryLoop.run(body, executor);
  }

  @Override
  public <T> CompletableFuture<T> runAsync(
      Function<? super Transaction, ? extends CompletableFuture<T>> body, Executor executor) {
    return retryLoop.runAsync(body, executor);
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

  /** Completes with a sentence when this process can no longer use the store. */
  public CompletableFuture<String> broken() {
    return environment.engine().broken();
  }

  /** Returns whether the disk is short of space, or soon will be. */
  public boolean isShortOfSpace() {
    return environment.engine().isShortOfSpace();
  }

  /** Names the figures of the engine. */
  public void describe(Meters meters) {
    environment.engine().describe(meters);
  }

  /** Returns what the engine does in the background. */
  public Tasks tasks() {
    return environment.engine().tasks();
  }

  DoubleSupplier random() {
    return environment.random();
  }

  /** Runs a supplier after a delay. */
  <T> CompletableFuture<T> after(long delayNanos, Executor executor, Supplier<T> supplier) {
    environment.open().check();
    CompletableFuture<T> result = new CompletableFuture<>();
    environment
        .timer()
        .schedule(
            () -> result.completeAsync(supplier, work -> Futures.on(executor, work)),
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
    if (environment.open().close()) {
      environment.watches().close();
      environment.timer().shutdown();
      environment.engine().close();
    }
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

  /** Runs a body in transactions until one commits or fails with an error that is not retryable. */
  private static final class RetryLoop {
    private final Database database;

    RetryLoop(Database database) {
      this.database = database;
    }

    /**
     * @throws CompletionException wraps the failure of the body, the commit or onError
     */
    <T> T run(Function<? super Transaction, T> body, Executor executor) {
      Transaction transaction = database.createTransaction(executor);
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

    <T> CompletableFuture<T> runAsync(
        Function<? super Transaction, ? extends CompletableFuture<T>> body, Executor executor) {
      AtomicReference<Transaction> current =
          new AtomicReference<>(database.createTransaction(executor));
      return attempt(body, current, executor)
          .whenComplete((result, error) -> current.get().close());
    }

    private <T> CompletableFuture<T> attempt(
        Function<? super Transaction, ? extends CompletableFuture<T>> body,
        AtomicReference<Transaction> current,
        Executor executor) {
      Transaction transaction = current.get();
      return Futures.apply(body, transaction)
          .thenComposeAsync(result -> transaction.commit().thenApply(committed -> result), executor)
          .handleAsync(
              (result, error) ->
                  error == null
                      ? CompletableFuture.completedFuture(result)
                      : retry(error, body, current, executor),
              executor)
          .thenCompose(Function.identity());
    }

    private <T> CompletableFuture<T> retry(
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
  }
}
