package lectus.audit.testing;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.AuditListener;
import lectus.audit.StoreAudit;
import lectus.store.Store;

/** The last check of every concurrency test: whatever happened, the audit finds nothing. */
public final class SoundStore {
  private SoundStore() {}

  public static void assertSound(Store store) {
    assertThat(new StoreAudit(store, AuditListener.SILENT).run().findings()).isEmpty();
  }
}
