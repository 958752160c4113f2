package lectus.server;

import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import lectus.updates.LogRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class UpdatesCompactionVerticleTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  @Test
  void servers_keep_the_updates_log_small() {
    Store store = stores.fresh();
    try (LectusServer one = LectusServer.start(store);
        LectusServer other = LectusServer.start(store)) {
      one.put("/w");
      for (int i = 0; i < 20; i++) {
        (i % 2 == 0 ? one : other).write("/w/" + i, "{}");
      }
      List<String> compacted = List.of("created w", "updated w");
      Await.until("the log is compacted", () -> LogRows.told(store).equals(compacted));
    }
  }
}
