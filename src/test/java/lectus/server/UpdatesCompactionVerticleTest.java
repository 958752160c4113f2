package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lectus.audit.testing.SoundStore;
import lectus.database.CreationOptions;
import lectus.database.DatabaseName;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import lectus.updates.LogRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(VertxExtension.class)
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

  /** Nobody else could compact for some ten seconds, were it still held. */
  @Test
  void it_gives_its_lease_back_when_it_stops(Vertx vertx) throws Exception {
    Store store = stores.fresh();
    Layer layer = new Layer(store, new TestSettings().toNode());
    createAndDelete(layer, "a");
    DeploymentOptions worker = new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER);
    String deployed =
        vertx
            .deployVerticle(new UpdatesCompactionVerticle(layer.compaction()), worker)
            .await(20, TimeUnit.SECONDS);
    Await.until("it compacts", () -> LogRows.told(store).equals(List.of("deleted a")));
    vertx.undeploy(deployed).await(20, TimeUnit.SECONDS);

    createAndDelete(layer, "b");
    assertThat(LogRows.told(store)).containsExactly("deleted a", "created b", "deleted b");
    new Layer(store, new TestSettings().toNode()).compaction().step();
    assertThat(LogRows.told(store)).containsExactly("deleted a", "deleted b");
  }

  private static void createAndDelete(Layer layer, String name) {
    layer.catalogue().create(DatabaseName.of(name), CreationOptions.DEFAULT);
    layer.catalogue().delete(DatabaseName.of(name));
  }
}
