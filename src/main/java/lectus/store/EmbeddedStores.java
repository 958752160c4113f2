package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import lectus.error.FoundationDbError;
import lectus.error.StoreOpenException;
import lectus.store.Store.StorePlace;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.folder.DataFolder;

/** Opens embedded stores. */
public final class EmbeddedStores {
  private EmbeddedStores() {}

  /** Opens the store in the folder {@code data}. Creates it if the folder is missing or empty. */
  public static Store open(Path data) {
    return open(data, EmbeddedOptions.defaults());
  }

  /**
   * Opens the stopped store in the folder {@code data} for reading. Nothing in the folder changes.
   *
   * @throws StoreOpenException if there is no store, it cannot be read, or a process has it open
   */
  public static Store openReadOnly(Path data) {
    return open(
        data, EmbeddedDatabase.openReadOnly(data, EmbeddedOptions.defaults()), Store::existing);
  }

  /**
   * Like {@link #open(Path)}, with options. Closing the store closes the database.
   *
   * @throws StoreOpenException if the folder cannot be used: held by another process, not writable,
   *     damaged or of a newer format
   */
  public static Store open(Path data, EmbeddedOptions options) {
    requireReadable(data);
    return open(data, EmbeddedDatabase.open(data, options), Store::in);
  }

  /** Returns whether the folder holds a complete store, sound or not. */
  public static boolean isStore(Path data) {
    return DataFolder.isStore(data);
  }

  /**
   * RocksDB changes a store when it opens it, so damaged rows that a start reads are found first.
   */
  private static void requireReadable(Path data) {
    if (DataFolder.isStore(data)) {
      try (EmbeddedDatabase database =
          EmbeddedDatabase.openReadOnly(data, EmbeddedOptions.defaults())) {
        Store.readBegin(database);
      } catch (FDBException damaged) {
        throw failure(data, damaged);
      }
    }
  }

  private static StoreOpenException failure(Path data, RuntimeException failure) {
    return failure instanceof FDBException lost && FoundationDbError.FILE_CORRUPT.is(lost.getCode())
        ? StoreOpenException.damage(
            "The store in " + data + " is damaged: " + lost.getMessage() + ".", failure)
        : new StoreOpenException(sentence(data, failure), failure);
  }

  private static String sentence(Path data, RuntimeException failure) {
    String what = "The store in " + data + " cannot be read or written.";
    return failure instanceof FDBException
        ? StoreFailures.foreseen(failure).map(error -> what + " " + error.reason()).orElse(what)
        : what;
  }

  private static Store open(Path data, Database database, Function<StorePlace, Store> opening) {
    return new StorePlace(
            database,
            Store.DEFAULT_DIRECTORY,
            TransactionLimits.DEFAULT,
            Optional.empty(),
            database::close)
        .open(opening, e -> failure(data, e));
  }
}
