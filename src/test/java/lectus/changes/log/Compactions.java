package lectus.changes.log;

import lectus.store.Lease;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** Compacts the updates log of a store in steps of a test's size. */
public final class Compactions {
  /** All compactions of a test belong to one server. */
  private static final byte[] HOLDER = new byte[16];

  private static final long AN_HOUR_OF_VERSIONS = 3_600_000_000L;

  private Compactions() {}

  /** Returns a compaction that shares its lease with the test's others. */
  public static UpdatesCompaction of(Store store, int rowsPerBucket) {
    return of(
        store,
        new Lease(store, UpdatesCompaction.TASK, HOLDER, AN_HOUR_OF_VERSIONS),
        rowsPerBucket);
  }

  /** Returns the compaction of another server. */
  static UpdatesCompaction ofAnother(Store store) {
    return of(store, new Lease(store, UpdatesCompaction.TASK, AN_HOUR_OF_VERSIONS), 256);
  }

  private static UpdatesCompaction of(Store store, Lease lease, int rowsPerBucket) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    return new UpdatesCompaction(store, transactions, lease, rowsPerBucket);
  }

  public static void whole(Store store) {
    while (step(store, 256)) {}
  }

  /** Returns false if no rows followed. */
  public static boolean step(Store store, int rowsPerBucket) {
    return of(store, rowsPerBucket).step();
  }
}
