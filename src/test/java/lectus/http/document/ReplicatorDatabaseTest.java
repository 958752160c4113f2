package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.config.AccessKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Bearer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who sees and who changes which document of a database of replications. */
final class ReplicatorDatabaseTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** Nothing answers there. */
  private static final String URL = "http://127.0.0.1:9/db";

  private static final String DATABASE = "/team%2f_replicator";
  private static final String OF_ANNA = DATABASE + "/r";

  private final Store store = stores.fresh();
  @AutoClose private LectusServer server;

  @TempDir Path folder;

  @BeforeEach
  void start() throws IOException {
    new Admins(store).put("root", Admins.hashOf("secret", 10));
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    server = LectusServer.start(store, new TestSettings().with(AccessKeys.JWT_KEYS, keys));
    as("root", "PUT", "/_users", "").expect(201);
    register("anna", "\"staff\"");
    register("bob", "");
    assertThat(as("root", "PUT", DATABASE, "").body()).contains("ok");
    String members = "{\"members\":{\"names\":[\"anna\",\"bob\"]}}";
    assertThat(as("root", "PUT", DATABASE + "/_security", members).body()).contains("ok");
    assertThat(as("anna", "PUT", OF_ANNA, withSecrets("")).body()).contains("ok");
  }

  private void register(String name, String roles) {
    String user =
        json("{'type':'user','name':'%s','password':'secret','roles':[%s]}").formatted(name, roles);
    String target = "/_users/org.couchdb.user:" + name;
    as("root", "PUT", target, user).expect(201);
  }

  private Answer as(String name, String method, String target, String json) {
    String pair = name + ":secret";
    String basic = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    Request request =
        server.request(method, target, "Authorization", "Basic " + basic, "Destination", "copy");
    return (json.isEmpty() ? request : request.json(json)).send();
  }

  private static String withSecrets(String more) {
    return """
    {"source":"http://me:hush1@127.0.0.1:9/db",
     "target":{"url":"http://me:hush2@127.0.0.1:9/db",
               "headers":{"X":"hush3"},"auth":{"basic":{"username":"me","password":"hush4"}}}%s}
    """
        .formatted(more);
  }

  private static String described(String more) {
    return "{\"source\":\"%s\",\"target\":\"%s\"%s}".formatted(URL, URL, more);
  }

  @Test
  void whoever_writes_a_replication_owns_it_and_sees_all_of_it() {
    Answer own = as("anna", "GET", OF_ANNA, "");

    assertThat(own.member("owner")).isEqualTo("anna");
    assertThat(own.body()).contains("hush1", "hush2", "hush3", "hush4");
    assertThat(as("root", "GET", OF_ANNA, "").body()).contains("hush1", "hush4");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?revs=true", "?fields=[\"source\",\"target.url\",\"target.auth\"]"})
  void others_see_a_replication_without_what_it_logs_in_with(String query) {
    Answer others = as("bob", "GET", OF_ANNA + query, "").expect(200);
    assertThat(others.body()).contains("http://127.0.0.1:9/db").doesNotContain("hush", "me:");
  }

  @ParameterizedTest
  @CsvSource({
    "GET,r?open_revs=all,404",
    "COPY,r,403",
    "POST,_find,403",
    "GET,_all_docs?include_docs=true,403",
    "GET,_changes?include_docs=true,403",
    "POST,_bulk_get,403"
  })
  void nothing_else_shows_replications_to_who_is_no_admin(
      String method, String target, int status) {
    Answer answer = as("bob", method, DATABASE + "/" + target, "{\"selector\":{}}");

    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).doesNotContain("hush");
  }

  @Test
  void nobody_changes_or_deletes_the_replication_of_another() {
    String rev = as("anna", "GET", OF_ANNA, "").member("_rev");

    for (Answer refused :
        new Answer[] {
          as("bob", "PUT", OF_ANNA + "?rev=" + rev, described("")),
          as("bob", "PUT", OF_ANNA + "?new_edits=false&rev=2-a", described("")),
          as("bob", "DELETE", OF_ANNA + "?rev=" + rev, ""),
          as("bob", "PUT", DATABASE + "/new", described(",\"owner\":\"anna\"")),
          as(
              "bob",
              "PUT",
              DATABASE + "/new?new_edits=false&rev=1-a",
              described(",\"owner\":\"anna\""))
        }) {
      assertThat(refused.status()).as(refused.body()).isEqualTo(403);
      assertThat(refused.member("reason"))
          .isEqualTo("Can't update replication documents from other users.");
    }
    as("anna", "PUT", OF_ANNA + "?rev=" + rev, described("")).expect(201);
  }

  @Test
  void an_admin_writes_in_the_name_of_others() {
    as("root", "PUT", DATABASE + "/given", described(",\"owner\":\"anna\""));
    as("root", "PUT", DATABASE + "/nobody-s", described(",\"owner\":null"));

    assertThat(as("root", "GET", DATABASE + "/given", "").member("owner")).isEqualTo("anna");
    assertThat(as("root", "GET", DATABASE + "/nobody-s", "").member("owner")).isEqualTo("root");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"name\":\"anna\",\"roles\":[\"staff\"]}|201",
        "{\"name\":\"anna\"}|201",
        "{\"name\":\"anna\",\"roles\":[\"_admin\"]}|403",
        "{\"name\":\"root\",\"roles\":[]}|403",
        "{\"roles\":[]}|403",
        "{\"name\":\"anna\",\"roles\":\"staff\"}|403",
        "null|403",
        "[]|403"
      })
  void a_replication_runs_with_no_more_rights_than_its_author_has(String user, int status) {
    String json = described(",\"user_ctx\":" + user);

    as("anna", "PUT", DATABASE + "/as", json).expect(status);
    assertThat(as("anna", "POST", DATABASE + "/_bulk_docs", "{\"docs\":[" + json + "]}").body())
        .contains(status == 201 ? "\"ok\":true" : "\"forbidden\"");
    as("root", "PUT", DATABASE + "/as-root", json).expect(201);
  }

  @Test
  void an_admin_of_the_database_gives_no_rights_but_their_own() {
    String security = "{\"admins\":{\"names\":[\"bob\"]},\"members\":{\"names\":[\"anna\"]}}";
    as("root", "PUT", DATABASE + "/_security", security);
    String rev = as("anna", "GET", OF_ANNA, "").member("_rev");

    for (Answer refused :
        new Answer[] {
          as("bob", "PUT", DATABASE + "/x", described(",\"owner\":\"root\"")),
          as(
              "bob",
              "PUT",
              DATABASE + "/x",
              described(",\"user_ctx\":{\"name\":\"bob\",\"roles\":[\"_admin\"]}")),
          as(
              "bob",
              "PUT",
              DATABASE + "/x?new_edits=false&rev=1-a",
              described(",\"user_ctx\":{\"name\":\"root\",\"roles\":[]}")),
          as("bob", "PUT", OF_ANNA + "?rev=" + rev, described(",\"owner\":\"anna\""))
        }) {
      assertThat(refused.status()).as(refused.body()).isEqualTo(403);
    }
    as("bob", "PUT", DATABASE + "/own", described("")).expect(201);
    as("bob", "DELETE", OF_ANNA + "?rev=" + rev, "").expect(200);
  }

  private void member(String database, String names) {
    as("root", "PUT", "/" + database, "");
    String members = "{\"members\":{\"names\":[%s]}}".formatted(names);
    as("root", "PUT", "/" + database + "/_security", members);
  }

  private void awaitState(String document, String state) {
    Await.until(
        document + " is " + state,
        () ->
            as("root", "GET", "/_scheduler/docs" + DATABASE + "/" + document, "")
                .body()
                .contains(json("'state':'%s'").formatted(state)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"anna", "root"})
  void a_token_with_somebodys_name_gives_none_of_the_rights_of_that_account(String name) {
    String members = "{\"members\":{\"names\":[\"anna\",\"root\"]}}";
    as("root", "PUT", DATABASE + "/_security", members);
    as("root", "PUT", "/hers", "");
    as("root", "PUT", "/hers/_security", "{\"members\":{\"roles\":[\"staff\"]}}");
    as("root", "PUT", "/hers/secret", "{}");
    member("his", "\"anna\"");
    String json = "{\"source\":\"hers\",\"target\":\"his\"%s}";

    server
        .request("PUT", DATABASE + "/by-token", "Authorization", Bearer.of(name, ""))
        .json(json.formatted(""))
        .send()
        .expect(201);
    assertThat(as("root", "GET", DATABASE + "/by-token", "").body())
        .contains("\"user_ctx\":{\"name\":\"" + name + "\",\"roles\":[]}");
    awaitState("by-token", "crashing");
    as("anna", "PUT", DATABASE + "/by-anna", json.formatted(",\"doc_ids\":[\"secret\"]"));
    assertThat(as("root", "GET", DATABASE + "/by-anna", "").body()).doesNotContain("user_ctx");
    awaitState("by-anna", "completed");
  }

  @Test
  void a_replication_has_the_rights_of_its_owner() {
    member("hers", "\"anna\"");
    member("others", "\"root\"");
    as("root", "PUT", "/others/secret", "{}");
    String json = "{\"source\":\"others\",\"target\":\"hers\"%s}";

    as("anna", "PUT", DATABASE + "/by-anna", json.formatted(""));
    awaitState("by-anna", "crashing");
    Answer shown = as("root", "GET", "/_scheduler/docs" + DATABASE + "/by-anna", "");
    assertThat(shown.body()).contains("You are not allowed to access this db.");
    as("anna", "GET", "/hers/secret", "").expect(404);

    as("root", "PUT", DATABASE + "/by-root", json.formatted(",\"doc_ids\":[\"secret\"]"));
    awaitState("by-root", "completed");
    as("anna", "GET", "/hers/secret", "").expect(200);
  }

  @Test
  void whoever_asks_for_a_replication_needs_rights_to_both_ends() {
    member("hers", "\"anna\"");
    member("hers-too", "\"anna\"");
    member("others", "\"root\"");
    as("root", "PUT", "/others/secret", "{}");
    String json = "{\"source\":\"%s\",\"target\":\"%s\"%s}";
    String lasting = ",\"continuous\":true";

    for (Answer refused :
        new Answer[] {
          as("anna", "POST", "/_replicate", json.formatted("others", "hers", "")),
          as("anna", "POST", "/_replicate", json.formatted("others", "hers", lasting)),
          as("anna", "POST", "/_replicate", json.formatted("hers", "others", "")),
          as("anna", "POST", "/_replicate", json.formatted("hers", "others", lasting))
        }) {
      assertThat(refused.status()).as(refused.body()).isEqualTo(403);
      assertThat(refused.member("reason")).isEqualTo("You are not allowed to access this db.");
    }
    for (String target : List.of("new", "hers-too", server.url() + "/new")) {
      String creating = json.formatted("hers", target, ",\"create_target\":true");
      Answer refused = as("anna", "POST", "/_replicate", creating).expect(401);
      assertThat(refused.member("reason"))
          .startsWith("unauthorized to access or create database " + target);
    }
    as("root", "GET", "/new", "").expect(404);
    as("anna", "POST", "/_replicate", json.formatted("hers", "hers-too", "")).expect(200);
    as("root", "POST", "/_replicate", json.formatted("others", "hers", "")).expect(200);
  }

  @Test
  void nobody_cancels_the_replication_of_another_but_a_server_admin() {
    member("hers", "\"anna\"");
    member("hers-too", "\"anna\"");
    String id =
        as(
                "anna",
                "POST",
                "/_replicate",
                json("{'source':'hers','target':'hers-too','continuous':true}"))
            .member("_local_id");
    String cancel = "{\"cancel\":true,\"replication_id\":\"" + id + "\"}";

    Answer refused = as("bob", "POST", "/_replicate", cancel).expect(401);
    assertThat(refused.member("reason")).isEqualTo("You are not a server admin.");
    as("root", "POST", "/_replicate", cancel).expect(200);
    as("anna", "POST", "/_replicate", cancel).expect(404);
  }

  private void setRoles(String name, String roles) {
    String target = "/_users/org.couchdb.user:" + name;
    String user = as("root", "GET", target, "").body();
    Answer written =
        as("root", "PUT", target, user.replaceFirst("\"roles\":\\[[^]]*\\]", "\"roles\":" + roles));
    assertThat(written.status()).as(written.body()).isEqualTo(201);
  }

  @Test
  void the_rights_are_those_that_the_owner_has_when_a_run_begins() {
    member("hers", "\"anna\"");
    as("root", "PUT", "/staff", "");
    as("root", "PUT", "/staff/_security", "{\"members\":{\"roles\":[\"staff\"]}}");
    as("root", "PUT", "/staff/before", "{}");
    String json = "{\"source\":\"staff\",\"target\":\"hers\",\"continuous\":true%s}";
    String rev = as("anna", "PUT", DATABASE + "/s", json.formatted("")).member("rev");
    Await.until("it comes", () -> as("anna", "GET", "/hers/before", "").status() == 200);

    setRoles("anna", "[]");
    server.close();
    server = LectusServer.start(store);
    awaitState("s", "crashing");
    as("root", "PUT", "/staff/meanwhile", "{}");
    assertThat(as("root", "GET", "/_scheduler/docs" + DATABASE + "/s", "").body())
        .contains("You are not allowed to access this db.");

    setRoles("anna", "[\"staff\"]");
    as("anna", "GET", "/hers/meanwhile", "").expect(404);
    as("anna", "PUT", DATABASE + "/s?rev=" + rev, json.formatted(",\"again\":1"));
    Await.until("it comes", () -> as("anna", "GET", "/hers/meanwhile", "").status() == 200);
  }

  @Test
  void the_document_of_a_replication_has_a_limit() {
    int most = 1 << 20;
    String head = json("{'owner':'anna','source':'%s','target':'%s','x':'").formatted(URL, URL);
    String fits = head + "x".repeat(most - head.length() - 2) + "\"}";

    as("anna", "PUT", DATABASE + "/fits", fits).expect(201);
    as("anna", "PUT", DATABASE + "/beyond", fits.replace("xx\"}", "xxx\"}")).expect(413);
  }
}
