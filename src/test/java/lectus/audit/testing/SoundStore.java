package lectus.audit.testing;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.AuditListener;
import lectus.audit.StoreAudit;
import lectus.store.Store;

/** What every test of concurrency ends with: whatever happened, the store is as it should be. */
public final class SoundStore {
  private SoundStore() {}

  public static void assertSound(Store store) {
    assertThat(new StoreAudit(store, AuditListener.SILENT).run().findings()).isEmpty();
  }
}
