package lectus.attachment;

import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.Await;

/** A store whose attachments were swept as if the grace had passed. */
public final class SweptStore {
  private static final long NO_GRACE = -1;

  private SweptStore() {}

  /** Asserts that nothing is left that no document needs, though a server may sweep meanwhile. */
  public static void assertClean(Store store, String database) {
    TestDatabase db = TestDatabase.open(store, database);
    StoreSweep sweep = new StoreSweep(store, db.catalogue, NO_GRACE, 2);
    Await.until(
        "nothing is left",
        () -> {
          freeLease(store);
          while (sweep.step()) {
            continue;
          }
          return rows(db, AttachmentKeys.UPLOADS) + rows(db, AttachmentKeys.UNUSED) == 0;
        });
    sweep.giveBack();
    SoundStore.assertSound(store);
  }

  /** Sweeps all databases once, as if the grace had passed. */
  public static void sweep(Store store) {
    freeLease(store);
    StoreSweep sweep = new StoreSweep(store, TestDatabase.open(store, "db").catalogue, NO_GRACE, 2);
    while (sweep.step()) {
      continue;
    }
    sweep.giveBack();
  }

  /** A server's round takes the lease for ten seconds, however short it is. */
  private static void freeLease(Store store) {
    Lease ofAnybody = new Lease(store, StoreSweep.TASK, 0);
    new TransactionRunner(store, TransactionLimits.DEFAULT)
        .runIdempotent(
            tx -> {
              ofAnybody.hold(tx);
              ofAnybody.giveBack(tx);
              return null;
            });
  }

  /** Returns how many rows a part of the attachments has. */
  public static int rows(Store store, String database, AttachmentKeys part) {
    return rows(TestDatabase.open(store, database), part);
  }

  private static int rows(TestDatabase db, AttachmentKeys part) {
    return db.read(
        (tx, handle) -> Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }
}
