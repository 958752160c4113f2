package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import lectus.audit.testing.SoundStore;
import lectus.config.AccessKeys;
import lectus.config.CorsKeys;
import lectus.database.SettingsSubspace.SettingName;
import lectus.database.StoredSettings;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration as CouchDB's clients and set-up scripts see it, on one server and on two. */
final class ConfigResourceTest {
  private static Store store;

  @Nested
  class OneServer {
    private static final String CONFIG = "/_node/_local/_config";

    private static final String ORIGINS =
        "app://obsidian.md,capacitor://localhost,http://localhost";

    @RegisterExtension static final TestStores stores = new TestStores();
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
    void another_value_is_in_force_until_it_is_deleted(
        String name, String configured, String other) {
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
      Answer answer =
          asRoot("PUT", CONFIG + "/" + name).json("\"" + value + "\"").send().expect(400);
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
      assertThat(
              asRoot("PUT", CONFIG + "/couchdb/single_node").json("true").send().member("reason"))
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

  /** What is set through one server of a store is in force on it at once, and on others soon. */
  @Nested
  class TwoServers {
    private static final String CONFIG = "/_node/_local/_config/";
    private static final String APP = "https://app.example";

    @RegisterExtension static final TestStores stores = SoundStore.stores();
    private static LectusServer here;
    private static LectusServer there;

    @BeforeAll
    static void start() {
      store = stores.fresh();
      here = LectusServer.start(store);
      there = LectusServer.start(store);
      here.put(CONFIG + "admins/root", "\"secret\"");
      asRoot(here, "PUT", "/db").send();
      asRoot(here, "PUT", "/_users").send();
      addUser("ann");
      addUser("bob");
      Await.until("the other server has an admin", () -> there.get("/_all_dbs").status() == 401);
    }

    @AfterAll
    static void stop() {
      there.close();
      here.close();
    }

    @AfterEach
    void leave_all_to_the_configuration() {
      StoredSettings stored = new StoredSettings(store);
      stored.all().keySet().forEach(stored::remove);
      look(here);
      look(there);
    }

    /** A server has seen all changes when it answers one of its own. */
    private static void look(LectusServer server) {
      asRoot(server, "DELETE", CONFIG + "cors/max_age").send().expect(200);
    }

    private static void addUser(String name) {
      String user =
          "{\"name\":\"%s\",\"type\":\"user\",\"roles\":[],\"password\":\"apple\",\"hobby\":\"go\"}";
      asRoot(here, "PUT", "/_users/org.couchdb.user:" + name).json(user.formatted(name)).send();
    }

    private static Request as(String name, LectusServer server, String method, String target) {
      String password = name.equals("root") ? "secret" : "apple";
      byte[] both = (name + ":" + password).getBytes(StandardCharsets.UTF_8);
      return server.request(
          method, target, "Authorization", "Basic " + Base64.getEncoder().encodeToString(both));
    }

    private static Request asRoot(LectusServer server, String method, String target) {
      return as("root", server, method, target);
    }

    private static void set(String name, String value) {
      String json = "\"" + value.replace("\"", "\\\"") + "\"";
      asRoot(here, "PUT", CONFIG + name).json(json).send().expect(200);
    }

    private static void unset(String name) {
      asRoot(here, "DELETE", CONFIG + name).send().expect(200);
    }

    private static void assertBoth(
        Function<LectusServer, Request> request, Predicate<Answer> expected) {
      assertThat(request.apply(here).send()).matches(expected);
      look(there);
      assertThat(request.apply(there).send()).matches(expected);
    }

    private static Request preflight(LectusServer server, String origin, String method) {
      return server.request(
          "OPTIONS",
          "/db/doc",
          "Origin",
          origin,
          "Access-Control-Request-Method",
          method,
          "Access-Control-Request-Headers",
          "authorization,content-type");
    }

    @Test
    void what_add_cors_to_couchdb_sets_lets_every_page_in() {
      assertThat(preflight(here, APP, "PUT").send().status()).isNotEqualTo(204);

      set("httpd/enable_cors", "true");
      set("cors/origins", "*");
      set("cors/credentials", "true");
      set("cors/methods", "GET, PUT, POST, HEAD, DELETE");
      set("cors/headers", "accept, authorization, content-type, origin, referer, x-csrf-token");

      assertBoth(server -> preflight(server, APP, "PUT"), it -> it.status() == 204);
      assertBoth(
          server -> asRoot(server, "GET", "/db").header("Origin", APP),
          it ->
              APP.equals(it.header("access-control-allow-origin"))
                  && "true".equals(it.header("access-control-allow-credentials")));
      assertThat(preflight(here, APP, "COPY").send().status()).isNotEqualTo(204);

      set("httpd/enable_cors", "false");
      assertBoth(server -> preflight(server, APP, "PUT"), it -> it.status() != 204);
    }

    @Test
    void another_server_sees_a_change_without_being_asked() {
      set("uuids/max_count", "2");
      Await.until("three are too many", () -> there.get("/_uuids?count=3").status() == 400);
      unset("uuids/max_count");
      Await.until("three are few", () -> there.get("/_uuids?count=3").status() == 200);
    }

    @Test
    void origins_alone_switch_nothing_on() {
      set("cors/origins", APP);
      assertThat(preflight(here, APP, "PUT").send().status()).isNotEqualTo(204);
      set("chttpd/enable_cors", "true");
      assertBoth(server -> preflight(server, APP, "PUT"), it -> it.status() == 204);
      assertBoth(server -> preflight(server, "https://evil", "PUT"), it -> it.status() != 204);
      unset("cors/origins");
      assertBoth(server -> preflight(server, APP, "PUT"), it -> it.status() != 204);
    }

    @Test
    void what_livesyncs_script_sets_is_in_force() {
      here.get("/").expect(200);

      set("chttpd/require_valid_user", "true");
      set("chttpd_auth/require_valid_user", "true");
      set("httpd/WWW-Authenticate", "Basic realm=\"couchdb\"");
      set("httpd/enable_cors", "true");
      set("chttpd/enable_cors", "true");
      set("cors/credentials", "true");
      set("cors/origins", "app://obsidian.md,capacitor://localhost,http://localhost");

      assertBoth(
          server -> server.request("GET", "/_up"),
          it ->
              it.status() == 401
                  && "Basic realm=\"couchdb\"".equals(it.header("www-authenticate")));
      assertBoth(
          server -> asRoot(server, "GET", "/db").header("Origin", "capacitor://localhost"),
          it -> it.status() == 200 && "true".equals(it.header("access-control-allow-credentials")));
      unset("chttpd_auth/require_valid_user");
      assertBoth(server -> server.request("GET", "/_up"), it -> it.status() == 200);
    }

    @Test
    void load_balancers_may_still_ask_whether_a_server_is_up() {
      set("chttpd/require_valid_user_except_for_up", "true");

      assertBoth(server -> server.request("GET", "/"), it -> it.status() == 401);
      here.get("/_up").expect(200);
    }

    @Test
    void a_live_feed_without_a_log_in_ends_once_one_is_needed() throws Exception {
      asRoot(here, "PUT", "/open").send();
      asRoot(here, "PUT", "/open/_security").json("{}").send();
      for (LectusServer server : List.of(here, there)) {
        look(server);
        Connection feed =
            server.request("GET", "/open/_changes?feed=continuous&heartbeat=60000").open();
        feed.readHead().expect(200);

        set("chttpd/require_valid_user", "true");

        assertThat(rest(feed)).contains("\"error\":\"unauthorized\"", "Authentication required.");
        unset("chttpd/require_valid_user");
      }
    }

    private static String rest(Connection feed) {
      StringBuilder rest = new StringBuilder();
      for (String piece = feed.chunkText(); !piece.isEmpty(); piece = feed.chunkText()) {
        rest.append(piece);
      }
      return rest.toString();
    }

    @Test
    void what_has_no_meaning_here_is_kept_and_shown() {
      for (String name :
          List.of("couchdb/max_partition_size", "replicator/max_jobs", "log/level")) {
        set(name, "17");
        assertBoth(
            server -> asRoot(server, "GET", CONFIG + name), it -> it.body().equals("\"17\"\n"));
        unset(name);
        asRoot(here, "GET", CONFIG + name).send().expect(404);
      }
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "made_up/name",
          "replicator/password",
          "chttpd_auth/secret",
          "couchdb/maintenance_mode",
          "chttpd_auth/authentication_db",
          "mango/default_limit"
        })
    void what_would_be_missed_if_it_were_ignored_is_refused(String name) {
      Answer refusal = asRoot(here, "PUT", CONFIG + name).json("\"other\"").send().expect(400);
      assertThat(refusal.member("reason")).endsWith(".");
    }

    @Test
    void users_are_where_they_are() {
      set("chttpd_auth/authentication_db", "_users");
    }

    @Test
    void a_plus_in_a_path_is_a_space_unless_it_is_to_stay() {
      assertThat(asRoot(here, "PUT", "/db/a+b").json("{}").send().member("id")).isEqualTo("a b");
      set("chttpd/decode_plus_to_space", "false");
      assertThat(asRoot(here, "PUT", "/db/c+d").json("{}").send().member("id")).isEqualTo("c+d");
      assertThat(
              asRoot(here, "GET", "/db/_all_docs?startkey=%22a+b%22&endkey=%22a+b%22")
                  .send()
                  .body())
          .contains("\"a b\"");
    }

    @Test
    void names_are_locked_after_wrong_passwords_unless_that_is_off() {
      set("chttpd_auth_lockout/mode", "off");
      addUser("eve");
      for (int wrong = 0; wrong < 6; wrong++) {
        wrong().send().expect(401);
      }
      as("eve", here, "GET", "/_session").send().expect(200);
      for (int wrong = 0; wrong < 5; wrong++) {
        wrong().send().expect(401);
      }
      set("chttpd_auth_lockout/mode", "enforce");
      wrong().send().expect(403);
    }

    private static Request wrong() {
      byte[] both = "eve:guess".getBytes(StandardCharsets.UTF_8);
      return here.request(
          "GET", "/_session", "Authorization", "Basic " + Base64.getEncoder().encodeToString(both));
    }

    @Test
    void sizes_are_in_force_on_both_sides_of_them() {
      String document = "{\"a\":\"" + "x".repeat(1_000) + "\"}";

      set("couchdb/max_document_size", Integer.toString(document.length() - 1));
      assertBoth(server -> asRoot(server, "POST", "/db").json(document), it -> it.status() == 413);
      set("couchdb/max_document_size", Integer.toString(document.length()));
      asRoot(here, "POST", "/db").json(document).send().expect(201);

      set("chttpd/max_http_request_size", "1500");
      String request = "{\"docs\":[" + document + "]}";
      String longer = request + " ".repeat(1_501 - request.length());
      assertBoth(
          server -> asRoot(server, "POST", "/db/_bulk_docs").json(longer),
          it -> it.status() == 413);
      asRoot(here, "POST", "/db/_bulk_docs").json(longer.strip()).send().expect(201);

      set("couchdb/max_attachment_size", "3");
      assertBoth(
          server ->
              asRoot(server, "PUT", "/db/" + new Object().hashCode() + "/att")
                  .body("1234".getBytes(StandardCharsets.UTF_8)),
          it -> it.status() == 413);
      asRoot(here, "PUT", "/db/with/att")
          .body("123".getBytes(StandardCharsets.UTF_8))
          .send()
          .expect(201);
    }

    @Test
    void cookies_are_as_long_as_set() {
      set("chttpd_auth/timeout", "1234");
      String logIn = "{\"name\":\"ann\",\"password\":\"apple\"}";
      assertBoth(
          server -> server.request("POST", "/_session").json(logIn),
          it -> it.header("set-cookie").contains("Max-Age=1234;"));
      set("couch_httpd_auth/allow_persistent_cookies", "false");
      assertBoth(
          server -> server.request("POST", "/_session").json(logIn),
          it -> !it.header("set-cookie").contains("Max-Age"));
    }

    @Test
    void lists_and_fields_are_shown_as_set() {
      here.get("/_all_dbs").expect(401);
      set("chttpd/admin_only_all_dbs", "false");
      assertBoth(server -> server.request("GET", "/_all_dbs"), it -> it.status() == 200);

      String bob = "/_users/org.couchdb.user:bob";
      as("ann", here, "GET", bob).send().expect(404);
      set("chttpd_auth/public_fields", "hobby");
      assertBoth(
          server -> as("ann", server, "GET", bob),
          it -> it.status() == 200 && it.body().contains("\"hobby\":\"go\""));

      asRoot(here, "PUT", "/_users/_security").json("{}").send().expect(403);
      set("couchdb/users_db_security_editable", "true");
      assertBoth(
          server -> asRoot(server, "PUT", "/_users/_security").json("{\"admins\":{}}"),
          it -> it.status() == 200);

      set("uuids/max_count", "2");
      assertBoth(server -> server.request("GET", "/_uuids?count=3"), it -> it.status() == 400);
      here.get("/_uuids?count=2").expect(200);
    }

    @Test
    void users_who_were_there_before_get_databases_of_their_own() {
      set("couch_peruser/enable", "true");

      Await.until(
          "Ann has one", () -> asRoot(here, "GET", "/userdb-616e6e").send().status() == 200);
      as("ann", here, "PUT", "/userdb-616e6e/doc").json("{}").send().expect(201);
    }

    @Test
    void the_store_wins_over_the_file_of_a_server_that_starts() {
      set("chttpd_auth/timeout", "77");
      set("chttpd/require_valid_user", "false");
      TestSettings file =
          new TestSettings()
              .with(AccessKeys.COOKIE_SECONDS, 1_000)
              .with(AccessKeys.REQUIRE_VALID_USER, true);
      try (LectusServer later = LectusServer.start(store, file)) {
        later.get("/").expect(200);
        assertThat(asRoot(later, "GET", CONFIG + "chttpd_auth/timeout").send().body())
            .isEqualTo("\"77\"\n");
        assertThat(asRoot(later, "DELETE", CONFIG + "chttpd_auth/timeout").send().body())
            .isEqualTo("\"77\"\n");
        assertThat(asRoot(later, "GET", CONFIG + "chttpd_auth/timeout").send().body())
            .isEqualTo("\"1000\"\n");
        asRoot(later, "DELETE", CONFIG + "chttpd/require_valid_user").send();
        later.get("/").expect(401);
      }
    }

    @Test
    void nobody_locks_himself_out_where_there_is_no_admin() {
      Store fresh = stores.fresh();
      new StoredSettings(fresh).put(new SettingName("chttpd", "require_valid_user"), "false");
      TestSettings locked = new TestSettings().with(AccessKeys.REQUIRE_VALID_USER, true);
      try (LectusServer open = LectusServer.start(fresh, locked)) {
        Request deletion = open.request("DELETE", CONFIG + "chttpd/require_valid_user");
        assertThat(deletion.send().member("reason")).startsWith("There is no admin");
        for (String name : List.of("require_valid_user", "require_valid_user_except_for_up")) {
          Answer refused = open.put(CONFIG + "chttpd/" + name, "\"true\"").expect(400);
          assertThat(refused.member("reason")).startsWith("There is no admin");
          open.put(CONFIG + "chttpd/" + name, "\"false\"").expect(200);
        }
        open.put(CONFIG + "admins/root", "\"secret\"");
        asRoot(open, "PUT", CONFIG + "chttpd/require_valid_user")
            .json("\"true\"")
            .send()
            .expect(200);
        open.get("/").expect(401);
        assertThat(asRoot(open, "DELETE", CONFIG + "admins/root").send())
            .returns(400, Answer::status)
            .matches(it -> it.member("reason").startsWith("This is the last admin"));
        asRoot(open, "DELETE", CONFIG + "admins/nobody").send().expect(404);
        asRoot(open, "PUT", CONFIG + "admins/other").json("\"secret\"").send();
        asRoot(open, "DELETE", CONFIG + "admins/other").send().expect(200);
        asRoot(open, "PUT", CONFIG + "chttpd/require_valid_user").json("\"false\"").send();
        asRoot(open, "DELETE", CONFIG + "admins/root").send().expect(200);
      }
    }

    @Test
    void what_cannot_be_read_is_taken_for_what_is_safe() {
      set("httpd/enable_cors", "true");
      set("cors/origins", APP);
      set("chttpd_auth/timeout", "1234");
      byte[] newer = {0x15, 2, 2, 'x', 0};
      for (String name : List.of("chttpd/require_valid_user", "chttpd/enable_cors")) {
        byte[] key =
            RootSubspace.SETTINGS
                .key(store.rootPrefix())
                .string("chttpd")
                .string(name.substring(7))
                .toBytes();
        Awaiting.await(
            store
                .database()
                .runAsync(
                    tx -> {
                      tx.set(key, newer);
                      return CompletableFuture.completedFuture(null);
                    }));
      }
      set("chttpd_auth/timeout", "1235");

      assertBoth(server -> server.request("GET", "/_up"), it -> it.status() == 401);
      assertBoth(server -> preflight(server, APP, "PUT"), it -> it.status() != 204);
      assertThat(asRoot(here, "GET", CONFIG + "chttpd_auth/timeout").send().body())
          .isEqualTo("\"1235\"\n");
      asRoot(here, "DELETE", CONFIG + "chttpd/require_valid_user").send().expect(200);
      here.get("/_up").expect(200);
    }

    @Test
    void only_admins_change_anything() {
      for (String name : List.of("cors/origins", "chttpd/require_valid_user", "x/y")) {
        here.put(CONFIG + name, "\"*\"").expect(401);
        assertThat(as("ann", here, "PUT", CONFIG + name).json("\"*\"").send().member("reason"))
            .isEqualTo("You are not a server admin.");
        as("ann", here, "DELETE", CONFIG + name).send().expect(401);
      }
      assertThat(new StoredSettings(store).all()).isEmpty();
    }

    @Test
    void requests_go_on_while_settings_change() throws Exception {
      ExecutorService threads = Executors.newFixedThreadPool(3);
      AtomicBoolean over = new AtomicBoolean();
      try {
        List<Future<Integer>> writers = new ArrayList<>();
        for (LectusServer server : List.of(here, there)) {
          writers.add(threads.submit(() -> write(server, over)));
        }
        for (int i = 0; i < 8; i++) {
          set("couchdb/max_document_size", Integer.toString(1_000 + i));
          set("chttpd/max_http_request_size", Integer.toString(4_000 + i));
          set("cors/origins", "https://" + i);
        }
        over.set(true);
        for (Future<Integer> writer : writers) {
          assertThat(writer.get()).isPositive();
        }
      } finally {
        threads.shutdownNow();
      }
    }

    private static int write(LectusServer server, AtomicBoolean over) {
      int written = 0;
      do {
        asRoot(server, "POST", "/db").json("{\"a\":1}").send().expect(201);
        written++;
      } while (!over.get());
      return written;
    }
  }
}
