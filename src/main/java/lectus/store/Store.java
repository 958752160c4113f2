package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.directory.DirectoryLayer;
import com.apple.foundationdb.directory.DirectorySubspace;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.metrics.Tasks;
import lectus.store.TransactionRunner.TransactionMetrics;
import lectus.store.embedded.EmbeddedDatabase;

/**
 * An open store: fdb-java's {@link Database}, embedded or a cluster, and the subspace that holds
 * all of Lectus. Its opener closes it.
 */
public final class Store implements Measured, AutoCloseable {
  /** The default location, as a path of FoundationDB's directory layer. */
  public static final List<String> DEFAULT_DIRECTORY = List.of("lectus");

  private static final int ROWS_AT_BEGIN = 100;

  private final Database database;
  private final DirectorySubspace root;
  private final String id;
  final Optional<Executor> clearing;
  private final Optional<TransactionIds> transactionIds;
  private final Runnable closing;
  private final Tasks tasks;
  private final TransactionMetrics transactionFigures = new TransactionMetrics();

  private Store(StorePlace place, DirectorySubspace root, String id) {
    this.database = place.database();
    this.root = root;
    this.id = id;
    this.clearing = place.clearing();
    this.tasks =
        database instanceof EmbeddedDatabase embedded ? embedded.engine().tasks() : new Tasks();
    this.transactionIds =
        clearing.map(executor -> new TransactionIds(database, root.getKey(), executor, tasks));
    this.closing = place.closing();
  }

  /** Opens the directory of a place, and creates it if it is missing. */
  static Store in(StorePlace place) {
    return runner(place)
        .runIdempotent(
            transaction -> {
              DirectorySubspace root =
                  Awaiting.await(new DirectoryLayer().createOrOpen(transaction, place.path()));
              String id = new StoreIdentity(root).readOrCreate(transaction);
              return new Store(place, root, id);
            });
  }

  /**
   * Opens the existing directory of a place. Nothing is written.
   *
   * @throws StoreOpenException if the directory does not exist
   */
  static Store existing(StorePlace place) {
    DirectoryLayer directories = new DirectoryLayer();
    List<String> path = place.path();
    return runner(place)
        .read(
            transaction -> {
              if (!Awaiting.await(directories.exists(transaction, path))) {
                throw new StoreOpenException(
                    "The store has no directory " + String.join("/", path) + ".");
              }
              DirectorySubspace root = Awaiting.await(directories.open(transaction, path));
              String id = new StoreIdentity(root).read(transaction);
              return new Store(place, root, id);
            });
  }

  /** Reads the rows that a start of a server needs, and those beside them, if there are any yet. */
  static void readBegin(Database database) {
    DirectoryLayer directories = new DirectoryLayer();
    new TransactionRunner(database, TransactionLimits.DEFAULT, false)
        .read(
            tx -> {
              if (Awaiting.await(directories.exists(tx, DEFAULT_DIRECTORY))) {
                byte[] root = Awaiting.await(directories.open(tx, DEFAULT_DIRECTORY)).getKey();
                for (RootSubspace each : RootSubspace.values()) {
                  Awaiting.await(tx.getRange(each.range(root), ROWS_AT_BEGIN).asList());
                }
              }
              return null;
            });
  }

  private static TransactionRunner runner(StorePlace place) {
    return new TransactionRunner(place.database(), place.limits(), place.clearing().isPresent());
  }

  public Database database() {
    return database;
  }

  /** Returns the root as a directory, which allocates short prefixes for its subdirectories. */
  public DirectorySubspace directory() {
    return root;
  }

  /**
   * Returns whether the database holds only this store. The embedded store's database does, unless
   * one of its directories is used as a separate store.
   */
  public boolean isAlone() {
    return clearing.isEmpty() && root.getPath().equals(DEFAULT_DIRECTORY);
  }

  /** Returns a copy of the prefix of all keys of Lectus in this store. */
  public byte[] rootPrefix() {
    return root.getKey();
  }

  /**
   * Returns the store's id: 32 lower-case hex digits, generated when the store was first opened.
   */
  public String id() {
    return id;
  }

  /**
   * Returns whether a commit's result may be unknown (commit_unknown_result, 1021), for example
   * after a network failure.
   */
  public boolean mayAnswerUnknownResult() {
    return transactionIds.isPresent();
  }

  /**
   * Completes with a sentence when this process can no longer use the store. A cluster's future
   * never completes.
   */
  public CompletableFuture<String> broken() {
    return database instanceof EmbeddedDatabase embedded
        ? embedded.engine().broken()
        : new CompletableFuture<>();
  }

  /**
   * Creates transactions whose reads throw {@link lectus.error.NotInMemoryException} instead of
   * waiting. Empty if every read waits, as on a cluster.
   */
  Optional<Supplier<Transaction>> memoryTransactions() {
    return database instanceof EmbeddedDatabase embedded
        ? Optional.of(embedded::createMemoryTransaction)
        : Optional.empty();
  }

  /**
   * Returns the lowest version that a process which still runs may have read at. One process at a
   * time has an embedded store.
   */
  long livingSince() {
    return database instanceof EmbeddedDatabase embedded ? embedded.firstVersion() : Long.MIN_VALUE;
  }

  /** Returns whether the disk of an embedded store is short of space, or soon will be. */
  public boolean isShortOfSpace() {
    return database instanceof EmbeddedDatabase embedded && embedded.engine().isShortOfSpace();
  }

  /**
   * Makes a copy of the embedded store that shares its files, for tools that copy folders.
   *
   * @return its folder; empty on a cluster, which has a backup of its own
   * @throws FDBException the disk is full or fails
   */
  public Optional<Path> checkpoint() {
    return database instanceof EmbeddedDatabase embedded
        ? Optional.of(embedded.engine().checkpoint())
        : Optional.empty();
  }

  public TransactionMetrics transactionFigures() {
    return transactionFigures;
  }

  public Tasks tasks() {
    return tasks;
  }

  @Override
  public void describe(Meters meters) {
    transactionFigures.describe(meters);
    if (database instanceof EmbeddedDatabase embedded) {
      embedded.engine().describe(meters);
    }
  }

  /** Returns the ids of this process's writes, if a result may be unknown. */
  Optional<TransactionIds> transactionIds() {
    return transactionIds;
  }

  @Override
  public void close() {
    transactionIds.ifPresent(TransactionIds::close);
    closing.run();
  }

  /**
   * An open database and the directory in which to open a store.
   *
   * @param path of the directory layer
   * @param clearing clears the ids of writes, some time after it is asked to; empty if the database
   *     always reports the result of a commit
   * @param closing runs when the store is closed
   */
  record StorePlace(
      Database database,
      List<String> path,
      TransactionLimits limits,
      Optional<Executor> clearing,
      Runnable closing) {

    /**
     * Opens the store. If that fails, closes the database.
     *
     * @param opening {@link Store#in} or {@link Store#existing}
     * @param why converts a failure of the database
     */
    Store open(
        Function<StorePlace, Store> opening, Function<RuntimeException, StoreOpenException> why) {
      try {
        return opening.apply(this);
      } catch (FDBException | LectusException e) {
        database.close();
        throw why.apply(e);
      } catch (RuntimeException e) {
        database.close();
        throw e;
      }
    }
  }
}
