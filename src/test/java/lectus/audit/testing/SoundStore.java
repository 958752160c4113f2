package lectus.audit.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.StoreRepair;
import lectus.store.Store;
import lectus.store.testing.TestStores;

/** The last check of every concurrency test: whatever happened, the audit finds nothing. */
public final class SoundStore {
  private SoundStore() {}

  /** Returns stores for tests that each must be sound after all tests of the class. */
  public static TestStores stores() {
    return TestStores.endingWith(SoundStore::assertSound);
  }

  /** Repairs what a test has damaged. */
  public static void repair(Store store) {
    new StoreRepair(store, Optional.empty()).run(AuditListener.SILENT, (place, done) -> {});
    assertSound(store);
  }

  public static void assertSound(Store store) {
    assertThat(new StoreAudit(store, AuditListener.SILENT).run().findings()).isEmpty();
  }
}
