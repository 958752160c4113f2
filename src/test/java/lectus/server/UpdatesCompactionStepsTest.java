package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.Compactions;
import lectus.changes.log.LogRows;
import lectus.database.DatabaseName;
import lectus.database.testing.TestLayout;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.metrics.Tasks.TaskState;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(VertxExtension.class)
final class UpdatesCompactionStepsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

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
    Layer layer = new Layer(store, new TestSettings().toNode(), () -> false);
    createAndDelete(layer, "a");
    DeploymentOptions worker = new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER);
    String deployed =
        vertx
            .deployVerticle(layer.updatesCompaction(layer.compaction()), worker)
            .await(20, TimeUnit.SECONDS);
    Await.until("it compacts", () -> LogRows.told(store).equals(List.of("deleted a")));
    vertx.undeploy(deployed).await(20, TimeUnit.SECONDS);

    createAndDelete(layer, "b");
    assertThat(LogRows.told(store)).containsExactly("deleted a", "created b", "deleted b");
    new Layer(store, new TestSettings().toNode(), () -> false).compaction().step();
    assertThat(LogRows.told(store)).containsExactly("deleted a", "deleted b");
  }

  @Test
  void what_takes_many_steps_is_a_task(Vertx vertx) throws Exception {
    FaultyStore network = new FaultyStore(stores.fresh());
    Store store = network.store();
    Layer layer = new Layer(store, new TestSettings().toNode(), () -> false);
    for (int i = 0; i < 100; i++) {
      createAndDelete(layer, "a");
    }
    // The first step tells that there is more to do.
    List<TaskState> seen = new CopyOnWriteArrayList<>();
    network.beforeNextCommit(
        () -> network.beforeNextCommit(() -> seen.addAll(store.tasks().running())));
    DeploymentOptions worker = new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER);
    String deployed =
        vertx
            .deployVerticle(layer.updatesCompaction(Compactions.of(store, 1)), worker)
            .await(20, TimeUnit.SECONDS);

    Await.until("it is seen", () -> !seen.isEmpty());
    assertThat(seen.get(0).type()).isEqualTo("updates_log_compaction");
    Await.until("it is over", () -> store.tasks().running().isEmpty());
    assertThat(LogRows.told(store)).containsExactly("deleted a");
    vertx.undeploy(deployed).await(20, TimeUnit.SECONDS);
  }

  private static void createAndDelete(Layer layer, String name) {
    layer.catalogue().create(DatabaseName.of(name), TestLayout.OPTIONS);
    layer.catalogue().delete(DatabaseName.of(name));
  }
}
