package lectus.http.node;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.config.AccessKeys;
import lectus.config.CorsKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The configuration as CouchDB's clients and set-up scripts see it. */
@Timeout(60)
final class ConfigResourceTest {
  private static final String CONFIG = "/_node/_local/_config";
  private static final String ORIGINS = "app://obsidian.md,capacitor://localhost,http://localhost";

  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer server;

  @BeforeAll
  static void start() {
    Store store = stores.fresh();
    try (LectusServer open = LectusServer.start(store)) {
      open.put(CONFIG + "/admins/root", "\"secret\"");
    }
    server =
        LectusServer.start(
            store,
            new TestSettings()
                .with(AccessKeys.REQUIRE_VALID_USER, true)
                .with(CorsKeys.CORS_CREDENTIALS, true)
                .allowing(ORIGINS));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Request asRoot(String method, String target) {
    return server.request(method, target).header("Authorization", "Basic cm9vdDpzZWNyZXQ=");
  }

  /** What LiveSync looks at before it uses a server. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "chttpd/require_valid_user | true",
        "chttpd_auth/require_valid_user | true",
        "httpd/WWW-Authenticate | Basic realm=\\\"server\\\"",
        "httpd/enable_cors | true",
        "chttpd/enable_cors | true",
        "chttpd/max_http_request_size | 4194304",
        "couchdb/max_document_size | 8000000",
        "couchdb/single_node | true",
        "cors/credentials | true",
        "cors/origins | " + ORIGINS
      })
  void what_is_in_force_is_a_string_and_may_be_set_again(String name, String value) {
    String target = CONFIG + "/" + name;

    assertThat(asRoot("GET", target).send().body()).isEqualTo("\"" + value + "\"\n");
    Answer again = asRoot("PUT", target).json("\" " + value + " \"").send();
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.body()).isEqualTo("\"" + value + "\"\n");
  }

  @Test
  void lists_may_come_in_any_order() {
    Answer answer =
        asRoot("PUT", CONFIG + "/cors/origins")
            .json("\"http://localhost, app://obsidian.md, capacitor://localhost\"")
            .send();

    assertThat(answer.status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "cors/origins, app://obsidian.md, cors.origins",
    "chttpd/require_valid_user, false, access.require-valid-user",
    "couchdb/max_document_size, 50000000, documents.max-bytes",
    "chttpd/max_http_request_size, 4294967296, http.max-request-bytes"
  })
  void another_value_is_refused_with_the_key_to_set(String name, String value, String key) {
    Answer answer = asRoot("PUT", CONFIG + "/" + name).json("\"" + value + "\"").send();

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.member("reason"))
        .isEqualTo(
            name + " cannot be changed while the server runs: its configuration has " + key + ".");
    assertThat(asRoot("DELETE", CONFIG + "/" + name).send().status()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({"GET, couchdb/nothing", "GET, nothing/nothing", "DELETE, log/level"})
  void there_is_nothing_else(String method, String name) {
    Answer answer = asRoot(method, CONFIG + "/" + name).send();

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.member("reason")).isEqualTo("unknown_config_value");
  }

  @Test
  void what_lectus_does_not_know_cannot_be_set() {
    assertThat(asRoot("PUT", CONFIG + "/log/level").json("\"debug\"").send().status())
        .isEqualTo(400);
    assertThat(asRoot("PUT", CONFIG + "/couchdb/single_node").json("true").send().member("reason"))
        .isEqualTo("a JSON string expected");
  }

  @Test
  void sections_are_objects_of_strings() {
    assertThat(asRoot("GET", CONFIG + "/httpd").send().body())
        .isEqualTo(
            "{\"WWW-Authenticate\":\"Basic realm=\\\"server\\\"\",\"enable_cors\":\"true\"}\n");
    assertThat(asRoot("GET", CONFIG + "/nothing").send().body()).isEqualTo("{}\n");
    assertThat(asRoot("GET", CONFIG).send().body())
        .startsWith("{\"admins\":{\"root\":\"-pbkdf2")
        .contains("},\"chttpd\":{\"admin_only_all_dbs\":\"")
        .contains("\"couchdb\":{\"max_document_size\":\"8000000\",\"single_node\":\"true\"")
        .doesNotContain("secret");
    assertThat(asRoot("POST", CONFIG + "/_reload").send().body()).isEqualTo("{\"ok\":true}\n");
    assertThat(asRoot("PUT", CONFIG + "/httpd").json("{}").send().status()).isEqualTo(405);
    assertThat(asRoot("PUT", CONFIG).json("{}").send().status()).isEqualTo(405);
  }

  @Test
  void it_is_for_admins() {
    assertThat(server.get(CONFIG).status()).isEqualTo(401);
    assertThat(server.get(CONFIG + "/cors/origins").status()).isEqualTo(401);
  }
}
