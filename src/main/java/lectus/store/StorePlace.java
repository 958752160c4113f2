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
 * An open database, and where and how in it a store is to be opened.
 *
 * @param path of the directory layer
 * @param clearing what clears the ids of writes, a while after it is asked to; empty if the
 *     database always tells the result of a commit
 * @param closing what closing the store does
 */
record StorePlace(
    Database database,
    List<String> path,
    TransactionLimits limits,
    Optional<Executor> clearing,
    Runnable closing) {

  /**
   * The store; if it does not open, the database is closed.
   *
   * @param opening {@link Store#in} or {@link Store#existing}
   * @param why what a failure of the database means
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
