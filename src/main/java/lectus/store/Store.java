package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.directory.DirectoryLayer;
import com.apple.foundationdb.directory.DirectorySubspace;
import com.apple.foundationdb.subspace.Subspace;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import lectus.error.StoreOpenException;
import lectus.store.embedded.EmbeddedDatabase;

/**
 * An open store: fdb-java's {@link Database}, embedded or a cluster, and the subspace of it that
 * all of Lectus lives in. Whoever opens one closes it.
 */
public final class Store implements AutoCloseable {
  /** Where Lectus lives unless told otherwise, as a path of FoundationDB's directory layer. */
  public static final List<String> DEFAULT_DIRECTORY = List.of("lectus");

  private final Database database;
  private final DirectorySubspace root;
  private final String id;
  private final Optional<Executor> clearing;
  private final Optional<TransactionIds> transactionIds;
  private final Runnable closing;

  private Store(StorePlace place, DirectorySubspace root, String id) {
    this.database = place.database();
    this.root = root;
    this.id = id;
    this.clearing = place.clearing();
    this.transactionIds =
        clearing.map(executor -> new TransactionIds(database, root.getKey(), executor));
    this.closing = place.closing();
  }

  /** Opens, or makes, the directory of a place. */
  static Store in(StorePlace place) {
    return runner(place)
        .runIdempotent(
            transaction -> {
              DirectorySubspace root =
                  Reads.await(new DirectoryLayer().createOrOpen(transaction, place.path()));
              String id = new StoreIdentity(root).readOrCreate(transaction);
              return new Store(place, root, id);
            });
  }

  /**
   * Opens the directory of a place as it is; nothing is written.
   *
   * @throws StoreOpenException if it is not there
   */
  static Store existing(StorePlace place) {
    DirectoryLayer directories = new DirectoryLayer();
    List<String> path = place.path();
    return runner(place)
        .read(
            transaction -> {
              if (!Reads.await(directories.exists(transaction, path))) {
                throw new StoreOpenException(
                    "The store has no directory " + String.join("/", path) + ".");
              }
              DirectorySubspace root = Reads.await(directories.open(transaction, path));
              String id = new StoreIdentity(root).read(transaction);
              return new Store(place, root, id);
            });
  }

  private static TransactionRunner runner(StorePlace place) {
    return TransactionRunner.withoutIds(
        place.database(), place.limits(), place.clearing().isPresent());
  }

  /**
   * Another directory of the same database, made if it is not there, with an id of its own. Closing
   * what this returns leaves the database open.
   */
  public Store inDirectory(List<String> path) {
    return in(new StorePlace(database, path, TransactionLimits.DEFAULT, clearing, () -> {}));
  }

  public Database database() {
    return database;
  }

  /** Everything of Lectus in this store lies below it. */
  public Subspace root() {
    return root;
  }

  /** The same as a directory, which hands out short prefixes to its subdirectories. */
  public DirectorySubspace directory() {
    return root;
  }

  /**
   * Whether the database holds nothing but this store, as the embedded one does unless a directory
   * of it is used as a store of its own.
   */
  public boolean isAlone() {
    return clearing.isEmpty() && root.getPath().equals(DEFAULT_DIRECTORY);
  }

  /** The bytes that every key of Lectus in this store begins with; a copy. */
  public byte[] rootPrefix() {
    return root.getKey();
  }

  /** 32 lower-case hex digits, made up when the store was first opened, the same ever since. */
  public String id() {
    return id;
  }

  /**
   * Whether a commit may end without telling if it was stored (commit_unknown_result, 1021), as
   * happens when the network breaks.
   */
  public boolean mayAnswerUnknownResult() {
    return transactionIds.isPresent();
  }

  /**
   * Completed with a sentence when the store cannot go on in this process; a cluster always may.
   */
  public CompletableFuture<String> broken() {
    return database instanceof EmbeddedDatabase embedded
        ? embedded.broken()
        : new CompletableFuture<>();
  }

  /**
   * Makes transactions whose reads throw {@link lectus.error.NotInMemoryException} rather than
   * wait; empty where every read waits, as those of a cluster do.
   */
  Optional<Supplier<Transaction>> memoryTransactions() {
    return database instanceof EmbeddedDatabase embedded
        ? Optional.of(embedded::createMemoryTransaction)
        : Optional.empty();
  }

  /** Of the writes of this process, where a result may be unknown. */
  Optional<TransactionIds> transactionIds() {
    return transactionIds;
  }

  @Override
  public void close() {
    transactionIds.ifPresent(TransactionIds::close);
    closing.run();
  }
}
