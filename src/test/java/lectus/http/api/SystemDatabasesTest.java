package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.changes.log.StoreDatabases;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an older version stored in databases of the system can be read. */
final class SystemDatabasesTest {
  private static final String JAN = "org.couchdb.user:jan";

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private StoreDatabases old;
  private LectusServer server;

  @BeforeEach
  void start() {
    Store store = stores.fresh();
    old = new StoreDatabases(store);
    old.create("_users");
    old.put("_users", JAN);
    server = LectusServer.start(store);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void an_old_database_is_read_and_removed() {
    Answer jan = server.get("/_users/" + JAN);
    assertThat(jan.status()).isEqualTo(200);
    assertThat(server.get("/_users/_all_docs").body()).contains(JAN);
    assertThat(server.post("/_users/_all_docs", "{}").body()).contains(JAN);
    assertThat(server.post("/_users/_bulk_get", "{\"docs\":[{\"id\":\"" + JAN + "\"}]}").status())
        .isEqualTo(200);
    assertThat(server.post("/_users/_revs_diff", "{}").status()).isEqualTo(200);
    assertThat(server.post("/_users/_changes", "{}").body()).contains(JAN);
    assertThat(server.put("/_users/_local/checkpoint", "{}").status()).isEqualTo(201);
    assertThat(server.delete("/_users/" + JAN + "?rev=" + jan.member("_rev")).status())
        .isEqualTo(200);
    assertThat(server.delete("/_users").status()).isEqualTo(200);
    assertThat(server.get("/_users").body())
        .isEqualTo("{\"error\":\"not_found\",\"reason\":\"Database does not exist.\"}\n");
  }

  @Test
  void other_databases_are_not_touched_by_this() {
    for (String name : new String[] {"_global_changes", "my_users", "users", "replicator"}) {
      assertThat(server.put("/" + name).status()).isEqualTo(201);
      assertThat(server.put("/" + name + "/_users", "{}").status()).isEqualTo(400);
      assertThat(server.put("/" + name + "/a", "{}").status()).isEqualTo(201);
    }
  }
}
