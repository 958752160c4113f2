package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.store.Awaiting;
import lectus.store.Store;

/** A store whose attachments were swept as if the grace had passed. */
public final class SweptStore {
  private static final long NO_GRACE = -1;

  private SweptStore() {}

  /** Asserts that nothing is left that no document needs. */
  public static void assertClean(Store store, String database) {
    TestDatabase db = TestDatabase.open(store, database);
    StoreSweep sweep = new StoreSweep(store, db.catalogue, NO_GRACE, 2);
    while (sweep.step()) {
      continue;
    }
    sweep.giveBack();
    assertThat(rows(db, AttachmentKeys.UPLOADS)).isZero();
    assertThat(rows(db, AttachmentKeys.UNUSED)).isZero();
    SoundStore.assertSound(store);
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
