package lectus.http.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.json.JsonValue;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /_active_tasks} while there is something to do. */
final class ActiveTasksTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final FaultyStore network = new FaultyStore(stores.fresh());
  private final Store store = network.store();
  @AutoClose private final LectusServer server = LectusServer.start(store);

  private String tasks() {
    return server.get("/_active_tasks").body();
  }

  @Test
  void a_resharding_is_shown_until_it_is_done() {
    server.put("/w");
    AtomicReference<String> seen = new AtomicReference<>("");
    lookBeforeCommits(seen, "resharding");

    server.put("/w/_changes/_meta", "{\"shards\":3}").expect(202);

    assertThat(seen.get())
        .matches(
            json("\\[\\{'node':'lectus@127\\.0\\.0\\.1:%s','pid':'<0\\.\\d+\\.0>','type':'resharding','database':'w','started_on':\\d{10},'updated_on':\\d{10},'changes_done':0}]\n")
                .formatted(server.port()));
    assertThat(tasks()).isEqualTo("[]\n");
  }

  /** Others may commit before: the log of updates is compacted now and then. */
  private void lookBeforeCommits(AtomicReference<String> seen, String type) {
    network.beforeNextCommit(
        () -> {
          seen.set(tasks());
          if (!seen.get().contains(type)) {
            lookBeforeCommits(seen, type);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"/_active_tasks", "/_node/_local/_active_tasks"})
  void tasks_have_couchdbs_members(String target) {
    try (RunningTask task = store.tasks().begin("space_reclaiming").outOf(200)) {
      task.advance(99);

      JsonValue.JsonArray all =
          (JsonValue.JsonArray) JsonValue.parse(server.get(target).body().strip().getBytes(UTF_8));
      JsonValue.JsonObject shown = (JsonValue.JsonObject) all.elements().get(0);
      assertThat(shown.members().keySet())
          .containsExactly(
              "node",
              "pid",
              "type",
              "database",
              "started_on",
              "updated_on",
              "changes_done",
              "total_changes",
              "progress");
      assertThat(server.get(target).body())
          .contains("\"changes_done\":99,\"total_changes\":200,\"progress\":49}");
    }
  }

  @Test
  void a_task_of_an_index_names_its_design_document() {
    Map<String, String> details = Map.of("design_document", "_design/i");
    try (RunningTask task = store.tasks().begin("indexer", "w", details)) {
      task.advance(1);
      assertThat(server.get("/_active_tasks").body())
          .contains("\"database\":\"w\",\"design_document\":\"_design/i\",\"started_on\":");
    }
  }
}
