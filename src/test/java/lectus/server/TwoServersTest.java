package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two servers on one store that hear nothing of each other still answer correctly. */
final class TwoServersTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  @AutoClose private final LectusServer one = LectusServer.start(store);
  @AutoClose private final LectusServer other = LectusServer.start(store);

  @Test
  void a_listener_learns_of_a_write_elsewhere() {
    one.put("/w");
    try (Connection feed = one.request("GET", "/w/_changes?feed=longpoll&heartbeat=60000").open()) {
      feed.readHead();
      other.write("/w/a", "{}");

      assertThat(feed.rest()).contains("\"id\":\"a\"");
    }
  }

  @Test
  void a_listener_learns_of_a_deletion_elsewhere() {
    one.put("/w");
    one.write("/w/a", "{}");
    String last = one.get("/w").member("update_seq");
    try (Connection feed =
        one.request("GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000").open()) {
      feed.readHead();
      other.delete("/w");
      other.put("/w");
      other.write("/w/of_the_next_life", "{}");

      assertThat(feed.rest()).isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}\n");
    }
  }

  @Test
  void a_database_created_again_elsewhere_is_another_one() {
    one.put("/w");
    String rev = one.write("/w/a", "{\"v\":1}");
    other.delete("/w");
    other.put("/w");

    one.get("/w/a").expect(404);
    one.put("/w/a?rev=" + rev, "{}").expect(409);
    one.put("/w/b", "{}").expect(201);
    other.get("/w/b").expect(200);
    assertThat(other.get("/w").body()).contains("\"doc_count\":1,");
  }
}
