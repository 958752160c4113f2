package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.config.AccessKeys;
import lectus.config.CorsKeys;
import lectus.database.StoredSettings;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The configuration as CouchDB's clients and set-up scripts see it. */
final class ConfigResourceTest {
  private static final String CONFIG = "/_node/_local/_config";
  private static final String ORIGINS = "app://obsidian.md,capacitor://localhost,http://localhost";

  @RegisterExtension static final TestStores stores = new TestStores();

  private static Store store;
  private static LectusServer server;

  @BeforeAll
  static void start() {
    store = stores.fresh();
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

  @AfterEach
  void leave_all_to_the_configuration() {
    StoredSettings stored = new StoredSettings(store);
    stored.all().keySet().forEach(stored::remove);
    asRoot("DELETE", CONFIG + "/cors/max_age").send().expect(200);
  }

  private static Request asRoot(String method, String target) {
    return server.request(method, target, "Authorization", "Basic cm9vdDpzZWNyZXQ=");
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
    asRoot("PUT", target).json("\" " + value + " \"").send().expect(200, "\"" + value + "\"\n");
  }

  @Test
  void a_list_is_shown_as_it_was_written() {
    asRoot("PUT", CONFIG + "/cors/origins")
        .json("\"http://localhost, app://obsidian.md, capacitor://localhost\"")
        .send()
        .expect(200);
    assertThat(asRoot("GET", CONFIG + "/cors/origins").send().body())
        .isEqualTo("\"http://localhost, app://obsidian.md, capacitor://localhost\"\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "chttpd/require_valid_user_except_for_up | false | true",
        "chttpd/admin_only_all_dbs | true | false",
        "chttpd/max_http_request_size | 4194304 | 1024",
        "chttpd/max_http_request_size | 4194304 | 4294967296",
        "chttpd/max_http_request_size | 4194304 | 9223372036854775807",
        "httpd/max_http_request_size | 4194304 | 2048",
        "chttpd/WWW-Authenticate | Basic realm=\\\"server\\\" | Basic realm=\\\"x\\\"",
        "chttpd_auth/timeout | 600 | 31536000",
        "couch_httpd_auth/timeout | 600 | 1",
        "chttpd_auth/allow_persistent_cookies | true | false",
        "chttpd_auth/cookie_domain | | example.com",
        "chttpd_auth/same_site | Lax | Strict",
        "chttpd_auth/authentication_redirect | | /_utils/session.html",
        "chttpd_auth/public_fields | | name, type",
        "couchdb/max_document_size | 8000000 | 1",
        "couchdb/max_document_size | 8000000 | 50000000",
        "couchdb/max_document_size | 8000000 | 9223372036854775807",
        "couchdb/max_attachment_size | 1073741824 | infinity",
        "couchdb/users_db_security_editable | false | true",
        "couch_peruser/enable | false | true",
        "couch_peruser/delete_dbs | false | true",
        "httpd/enable_cors | true | false",
        "cors/origins | " + ORIGINS + " | *",
        "cors/origins | " + ORIGINS + " | null,file://",
        "cors/credentials | true | false",
        "cors/max_age | 600 | 86400",
        "uuids/max_count | 1000 | 2"
      })
  void another_value_is_in_force_until_it_is_deleted(String name, String configured, String other) {
    String target = CONFIG + "/" + name;
    String before = "\"" + (configured == null ? "" : configured) + "\"\n";

    assertThat(asRoot("PUT", target).json("\"" + other + "\"").send().body()).isEqualTo(before);
    assertThat(asRoot("GET", target).send().body()).isEqualTo("\"" + other + "\"\n");
    assertThat(asRoot("PUT", target).json("\"" + other + "\"").send().body())
        .isEqualTo("\"" + other + "\"\n");
    assertThat(asRoot("DELETE", target).send().body()).isEqualTo("\"" + other + "\"\n");
    Answer after = asRoot("GET", target).send();
    Answer again = asRoot("DELETE", target).send();
    if (configured == null) {
      after.expect(404);
      again.expect(404);
    } else {
      after.expect(before);
      again.expect(before);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "chttpd/require_valid_user | yes | true or false",
        "chttpd/max_http_request_size | 1023 | a whole number from 1024 to 9223372036854775807",
        "chttpd/max_http_request_size | 9223372036854775808 | a whole number from 1024 to",
        "chttpd/max_http_request_size | 4GB | a whole number from 1024 to",
        "chttpd/max_http_request_size | \\u0664096 | a whole number from 1024 to",
        "couchdb/max_document_size | 0 | a whole number from 1 to 9223372036854775807",
        "couchdb/max_document_size | -1 | a whole number from 1 to",
        "couchdb/max_document_size | 9223372036854775808 | a whole number from 1 to",
        "couchdb/max_document_size | 1e6 | a whole number from 1 to",
        "couchdb/max_attachment_size | -1 | a whole number from 0 to",
        "chttpd_auth/timeout | 0 | a whole number from 1 to 31536000",
        "chttpd_auth/timeout | 31536001 | a whole number from 1 to 31536000",
        "chttpd_auth/cookie_domain | a;b | a domain, or empty",
        "chttpd_auth/same_site | maybe | lax or strict or none or unset",
        "chttpd_auth/authentication_redirect | x | a path that begins with one /",
        "chttpd_auth/authentication_redirect | //evil.example | a path that begins with one /",
        "chttpd_auth/authentication_redirect | /\\\\evil.example | a path that begins with one /",
        "chttpd_auth/public_fields | a\\u001b[2J | without control characters",
        "cors/methods | GET,\\r\\nPUT | without control characters",
        "httpd/WWW-Authenticate | Basic\\r\\nX: y | without control characters",
        "httpd/WWW-Authenticate | Basic\\u0085 | without control characters",
        "httpd/WWW-Authenticate | Básic | a challenge such as",
        "httpd/enable_cors | with-origins | true or false",
        "cors/origins | app.example | * or origins such as https://app.example",
        "cors/origins | https://app.example/ | without a path",
        "cors/origins | https://a\\nb | without control characters",
        "cors/headers | a b | names without spaces",
        "cors/methods | G/T | names without spaces",
        "cors/max_age | 86401 | a whole number from 0 to 86400",
        "uuids/max_count | 100001 | a whole number from 1 to 100000"
      })
  void a_value_that_a_setting_does_not_take_changes_nothing(
      String name, String value, String wanted) {
    String target = CONFIG + "/" + name;
    String before = asRoot("GET", target).send().body();

    Answer answer = asRoot("PUT", target).json("\"" + value + "\"").send().expect(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.body()).contains(wanted, "must be");
    assertThat(asRoot("GET", target).send().body()).isEqualTo(before);
  }

  @Test
  void a_size_beyond_the_servers_own_limit_leaves_that_in_force() {
    asRoot("PUT", CONFIG + "/chttpd/max_http_request_size").json("\"4294967296\"").send();
    asRoot("PUT", CONFIG + "/couchdb/max_document_size").json("\"50000000\"").send();
    asRoot("PUT", "/sizes").send();
    String document = "{\"a\":\"" + "x".repeat(9_299_992) + "\"}";

    asRoot("POST", "/sizes").json(document).send().expect(201);
    assertThat(asRoot("POST", "/sizes").json(document.replace("x\"", "xx\"")).send())
        .returns(413, Answer::status)
        .returns(
            "The document has 9300001 bytes of JSON, the limit is 9300000.",
            answer -> answer.member("reason"));
    try (Connection connection =
        asRoot("POST", "/sizes/_find")
            .header("Content-Type", "application/json")
            .header("Content-Length", "134217729")
            .open()) {
      assertThat(connection.read(false))
          .returns(413, Answer::status)
          .returns(
              "the request entity is too large, the limit is 134217728 bytes",
              answer -> answer.member("reason"));
    }
  }

  @Test
  void a_value_has_a_length() {
    String target = CONFIG + "/chttpd_auth/public_fields";
    String longest = "x".repeat(8_192);

    asRoot("PUT", target).json("\"" + longest + "\"").send().expect(200);
    assertThat(asRoot("PUT", target).json("\"" + longest + "x\"").send().member("reason"))
        .isEqualTo("The value of a setting has 8192 bytes at most.");
    assertThat(asRoot("DELETE", target).send().body()).isEqualTo("\"" + longest + "\"\n");
  }

  @Test
  void what_is_no_string_or_no_text_changes_nothing() {
    for (String json : new String[] {"true", "{}", "[]", "null", "5", "", "\"x", "\"\\ud800\""}) {
      Answer answer = asRoot("PUT", CONFIG + "/chttpd_auth/public_fields").json(json).send();
      assertThat(answer.status()).as(json).isEqualTo(400);
    }
    asRoot("GET", CONFIG + "/chttpd_auth/public_fields").send().expect(404);
  }

  @ParameterizedTest
  @CsvSource({
    "couchdb/uuid, x, cannot be changed.",
    "couchdb/default_security, everyone, its configuration has access.default-security.",
    "chttpd_auth/users_db_public, true, cannot be changed.",
    "couch_peruser/database_prefix, db-, cannot be changed."
  })
  void what_cannot_be_changed_stays(String name, String value, String advice) {
    Answer answer = asRoot("PUT", CONFIG + "/" + name).json("\"" + value + "\"").send().expect(400);
    assertThat(answer.member("reason")).startsWith(name).endsWith(advice);
    asRoot("DELETE", CONFIG + "/" + name).send().expect(400);
  }

  @ParameterizedTest
  @CsvSource({"GET, couchdb/nothing", "GET, nothing/nothing", "DELETE, log/level"})
  void there_is_nothing_else(String method, String name) {
    Answer answer = asRoot(method, CONFIG + "/" + name).send().expect(404);
    assertThat(answer.member("reason")).isEqualTo("unknown_config_value");
  }

  @Test
  void what_lectus_does_not_know_cannot_be_set() {
    asRoot("PUT", CONFIG + "/vhosts/name").json("\"debug\"").send().expect(400);
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
        .contains("\"max_document_size\":\"8000000\",\"single_node\":\"true\"")
        .doesNotContain("secret");
    assertThat(asRoot("POST", CONFIG + "/_reload").send().body()).isEqualTo("{\"ok\":true}\n");
    asRoot("PUT", CONFIG + "/httpd").json("{}").send().expect(405);
    asRoot("PUT", CONFIG).json("{}").send().expect(405);
  }

  @Test
  void it_is_for_admins() {
    server.get(CONFIG).expect(401);
    server.get(CONFIG + "/cors/origins").expect(401);
  }
}
