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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Replications that nobody runs are not stored. What an older version stored can be read. */
final class SystemDatabasesTest {
  private static final String JAN = "org.couchdb.user:jan";
  private static final String REPLICATION =
      "{\"_id\":\"backup\",\"source\":\"https://jan:apple@example.org/a\",\"target\":\"b\",\"docs\":[]}";

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

  @ParameterizedTest
  @CsvSource({
    "PUT,/_replicator/backup",
    "PUT,/_replicator/backup?new_edits=false",
    "PUT,/_replicator/_design/x",
    "PUT,/a%2F_replicator/backup",
    "POST,/_replicator",
    "POST,/_replicator/",
    "POST,/_replicator/_bulk_docs",
    "COPY,/_replicator/old",
    "COPY,/_replicator/_local/old"
  })
  void a_replication_that_nobody_would_run_is_refused(String method, String target) {
    assertThat(server.put("/_replicator").status()).isEqualTo(201);
    assertThat(server.put("/a%2F_replicator").status()).isEqualTo(201);

    Answer refused =
        server.request(method, target).header("Destination", "backup").json(REPLICATION).send();

    assertThat(refused.status()).isEqualTo(501);
    assertThat(refused.member("error")).isEqualTo("not_implemented");
    assertThat(refused.member("reason")).contains("does not replicate by itself yet");
    assertThat(server.get("/_replicator").body()).contains("\"doc_count\":0,");
  }

  @Test
  void replications_that_an_older_version_stored_are_read_and_removed() {
    old.create("_replicator");
    old.put("_replicator", "backup");

    Answer backup = server.get("/_replicator/backup");
    assertThat(server.post("/_replicator/_all_docs", "{}").body()).contains("backup");
    assertThat(server.put("/_replicator/_security", "{}").status()).isEqualTo(200);
    assertThat(server.delete("/_replicator/backup?rev=" + backup.member("_rev")).status())
        .isEqualTo(200);
    assertThat(server.delete("/_replicator").status()).isEqualTo(200);
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
