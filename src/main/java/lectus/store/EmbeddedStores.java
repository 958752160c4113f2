package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;

/** Opens embedded stores. */
public final class EmbeddedStores {
  private EmbeddedStores() {}

  /** Opens the store in the folder {@code data}, or makes one if the folder is missing or empty. */
  public static Store open(Path data) {
    return open(data, EmbeddedOptions.defaults());
  }

  /**
   * Opens the stopped store in the folder {@code data} for reading; nothing there changes.
   *
   * @throws StoreOpenException if there is none, or it cannot be read, or a process has it open
   */
  public static Store openReadOnly(Path data) {
    Database database = EmbeddedDatabase.openReadOnly(data, EmbeddedOptions.defaults());
    return opened(
        data,
        database,
        () ->
            Store.existing(
                database,
                Store.DEFAULT_DIRECTORY,
                TransactionLimits.DEFAULT,
                Optional.empty(),
                database::close));
  }

  /**
   * As {@link #open(Path)}, with options; closing the store closes the database.
   *
   * @throws StoreOpenException if the folder cannot be used: held by another process, not writable,
   *     damaged or of a newer format
   */
  public static Store open(Path data, EmbeddedOptions options) {
    Database database = EmbeddedDatabase.open(data, options);
    return opened(
        data,
        database,
        () ->
            Store.in(
                database,
                Store.DEFAULT_DIRECTORY,
                TransactionLimits.DEFAULT,
                Optional.empty(),
                database::close));
  }

  private static Store opened(Path data, Database database, Supplier<Store> store) {
    try {
      return store.get();
    } catch (FDBException | LectusException e) {
      database.close();
      throw new StoreOpenException("The store in " + data + " cannot be read or written.", e);
    } catch (StoreOpenException e) {
      database.close();
      throw e;
    }
  }
}
