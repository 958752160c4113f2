package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.changes.log.StoreDatabases;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an older version stored in databases of the system can be read. */
final class SystemDatabasesTest {
  private static final String JAN = "org.couchdb.user:jan";

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private StoreDatabases old;
  @AutoClose private LectusServer server;

  @BeforeEach
  void start() {
    Store store = stores.fresh();
    old = new StoreDatabases(store);
    old.create("_users");
    old.put("_users", JAN);
    server = LectusServer.start(store);
  }

  @Test
  void an_old_database_is_read_and_removed() {
    Answer jan = server.get("/_users/" + JAN).expect(200);
    assertThat(server.get("/_users/_all_docs").body()).contains(JAN);
    assertThat(server.post("/_users/_all_docs", "{}").body()).contains(JAN);
    server.post("/_users/_bulk_get", "{\"docs\":[{\"id\":\"" + JAN + "\"}]}").expect(200);
    server.post("/_users/_revs_diff", "{}").expect(200);
    assertThat(server.post("/_users/_changes", "{}").body()).contains(JAN);
    server.put("/_users/_local/checkpoint", "{}").expect(201);
    server.delete("/_users/" + JAN + "?rev=" + jan.member("_rev")).expect(200);
    server.delete("/_users").expect(200);
    server
        .get("/_users")
        .expect("{\"error\":\"not_found\",\"reason\":\"Database does not exist.\"}\n");
  }

  @Test
  void other_databases_are_not_touched_by_this() {
    for (String name : new String[] {"_global_changes", "my_users", "users", "replicator"}) {
      server.put("/" + name).expect(201);
      server.put("/" + name + "/_users", "{}").expect(400);
      server.put("/" + name + "/a", "{}").expect(201);
    }
  }
}
