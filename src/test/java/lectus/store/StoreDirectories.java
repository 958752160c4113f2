package lectus.store;

import java.util.List;
import lectus.store.Store.StorePlace;

/** Directories of a database, each used as a store of its own. */
public final class StoreDirectories {
  private StoreDirectories() {}

  /**
   * Opens a directory of a store's database as a store with its own id, and creates it if it is
   * missing. Closing it leaves the database open.
   */
  public static Store open(Store beside, List<String> path) {
    return Store.in(
        new StorePlace(
            beside.database(), path, TransactionLimits.DEFAULT, beside.clearing, () -> {}));
  }
}
