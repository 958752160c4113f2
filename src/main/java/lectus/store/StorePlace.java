package lectus.store;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;

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
