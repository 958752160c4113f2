package lectus.updates;

import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** Compacts the updates log of a store, in steps of a test's size. */
public final class Compactions {
  private Compactions() {}

  public static void whole(Store store) {
    while (step(store, 256)) {}
  }

  /** False if nothing followed. */
  public static boolean step(Store store, int rowsPerBucket) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    return new UpdatesCompaction(store, transactions, rowsPerBucket).step();
  }
}
