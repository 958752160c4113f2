package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lectus.config.AccessKeys;
import lectus.config.CorsKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.metrics.Tasks.RunningTask;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The requests of two programs made for CouchDB, in their order: of gesellix's
 * couchdb-prometheus-exporter, and of Self-hosted LiveSync, its set-up script and its check of a
 * server.
 */
final class ReplayedClientsTest {
  private static final String ROOT = "Basic cm9vdDpyb290";
  private static final String CONFIG = "/_node/_local/_config";
  private static final List<String> ORIGINS =
      List.of("app://obsidian.md", "capacitor://localhost", "http://localhost");

  /** What LiveSync wants at least, in bytes. */
  private static final long MAX_REQUEST = 1L << 32;

  private static final long MAX_DOCUMENT = 50_000_000;

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  @AutoClose private LectusServer server;

  @BeforeEach
  void start() {
    Member.makeAdmin(store, "root");
    server =
        LectusServer.start(
            store,
            new TestSettings()
                .with(AccessKeys.REQUIRE_VALID_USER, true)
                .with(AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP, true)
                .with(CorsKeys.CORS_CREDENTIALS, true)
                .allowing(String.join(",", ORIGINS)));
  }

  private Request asRoot(String method, String target) {
    return server.request(method, target, "Authorization", ROOT);
  }

  private JsonValue get(String target) {
    Answer answer = asRoot("GET", target).send();
    assertThat(answer.status()).as(target).isEqualTo(200);
    return JsonValue.parse(answer.body().strip().getBytes(StandardCharsets.UTF_8));
  }

  private static JsonValue at(JsonValue json, String path) {
    JsonValue place = json;
    for (String name : path.split("/")) {
      assertThat(place).as(path).isInstanceOf(JsonObject.class);
      place = ((JsonObject) place).get(name).orElseThrow(() -> new AssertionError("no " + path));
    }
    return place;
  }

  private static double number(JsonValue json, String path) {
    assertThat(at(json, path)).as(path).isInstanceOf(JsonNumber.class);
    return Double.parseDouble(((JsonNumber) at(json, path)).text());
  }

  private static String text(JsonValue json, String path) {
    assertThat(at(json, path)).as(path).isInstanceOf(JsonString.class);
    return ((JsonString) at(json, path)).value();
  }

  private static long size(JsonValue config, String name) {
    return Long.parseLong(text(config, name));
  }

  private static Stream<String> below(String parent, String... names) {
    return Stream.of(names).map(name -> parent + "/" + name);
  }

  /** Everything that the exporter shows, under the names by which it looks for it. */
  private static Stream<String> countersOfTheExporter() {
    return Stream.of(
            below(
                "couchdb",
                "auth_cache_hits",
                "auth_cache_misses",
                "database_reads",
                "database_writes",
                "open_databases",
                "open_os_files"),
            below("couchdb/httpd", "bulk_requests", "clients_requesting_changes", "requests"),
            below("couchdb/httpd", "temporary_view_reads", "view_reads"),
            below("couchdb/httpd_request_methods", "COPY", "DELETE", "GET", "HEAD", "POST", "PUT"),
            below("couchdb/httpd_status_codes", "200", "201", "202", "301", "304", "400", "401"),
            below("couchdb/httpd_status_codes", "403", "404", "405", "409", "412", "500"),
            below("couch_log/level", "alert", "critical", "debug", "emergency", "error", "info"),
            below("couch_log/level", "notice", "warning"),
            Stream.of("fabric/worker/timeout", "fabric/open_shard/timeout"),
            below("fabric/read_repairs", "success", "failure"),
            below("fabric/doc_update", "errors", "mismatched_errors", "write_quorum_errors"),
            below("mango", "unindexed_queries", "query_invalid_index", "too_many_docs_scanned"),
            below("mango", "docs_examined", "quorum_docs_examined", "results_returned"),
            below("mango", "evaluate_selector"),
            countersOfReplications())
        .flatMap(it -> it);
  }

  private static Stream<String> countersOfReplications() {
    return Stream.of(
            below("couch_replicator", "changes_read_failures", "changes_reader_deaths"),
            below("couch_replicator", "changes_manager_deaths", "changes_queue_deaths"),
            below("couch_replicator", "failed_starts", "requests", "worker_deaths"),
            below("couch_replicator", "workers_started", "cluster_is_stable", "db_scans"),
            below("couch_replicator/checkpoints", "success", "failure"),
            below("couch_replicator/responses", "success", "failure"),
            below("couch_replicator/stream_responses", "success", "failure"),
            below("couch_replicator/docs", "dbs_created", "dbs_deleted", "dbs_found"),
            below("couch_replicator/docs", "failed_state_updates", "completed_state_updates"),
            below("couch_replicator/jobs", "adds", "duplicate_adds", "removes", "starts", "stops"),
            below("couch_replicator/jobs", "crashes", "running", "pending", "crashed", "total"),
            below("couch_replicator/connection", "acquires", "creates", "releases", "closes"),
            below("couch_replicator/connection", "owner_crashes", "worker_crashes"))
        .flatMap(it -> it);
  }

  private static void assertHistogram(JsonValue stats, String path) {
    for (String member :
        List.of(
            "min",
            "max",
            "arithmetic_mean",
            "geometric_mean",
            "harmonic_mean",
            "median",
            "variance",
            "standard_deviation",
            "skewness",
            "kurtosis",
            "n")) {
      assertThat(number(stats, path + "/value/" + member)).as(member).isFinite();
    }
    JsonArray percentiles = (JsonArray) at(stats, path + "/value/percentile");
    assertThat(percentiles.elements()).hasSize(6);
    assertThat(text(stats, path + "/type")).isEqualTo("histogram");
  }

  @Test
  void an_exporter_of_couchdbs_figures_runs_through() {
    asRoot("PUT", "/w").send();
    asRoot("PUT", "/w/a").json("{}").send();
    asRoot("PUT", "/w/_design/d").json("{\"views\":{\"v\":{\"map\":\"function () {}\"}}}").send();
    asRoot("GET", "/w/none").send();

    assertThat(text(get("/"), "version")).startsWith("3.");
    assertThat(text(get("/"), "vendor/name")).isEqualTo("Lectus");
    JsonArray nodes = (JsonArray) at(get("/_membership"), "cluster_nodes");
    assertThat(nodes.elements()).hasSize(1);
    String node = ((JsonString) nodes.elements().get(0)).value();

    JsonValue stats = get("/_node/" + node + "/_stats");
    countersOfTheExporter()
        .forEach(
            path -> {
              assertThat(number(stats, path + "/value")).as(path).isNotNegative();
              assertThat(text(stats, path + "/type")).isEqualTo("counter");
              assertThat(text(stats, path + "/desc")).isNotEmpty();
            });
    assertHistogram(stats, "couchdb/request_time");
    assertHistogram(stats, "mango/query_time");
    assertThat(number(stats, "couchdb/httpd_status_codes/201/value")).isEqualTo(3);
    assertThat(number(stats, "couchdb/httpd_status_codes/404/value")).isEqualTo(1);
    assertThat(number(stats, "couchdb/httpd_request_methods/PUT/value")).isEqualTo(3);
    assertThat(number(stats, "couchdb/open_databases/value")).isEqualTo(1);
    assertThat(number(stats, "couchdb/auth_cache_hits/value")).isPositive();

    JsonValue info = get("/w");
    assertThat(number(info, "doc_count")).isEqualTo(2);
    assertThat(number(info, "doc_del_count")).isZero();
    assertThat(number(info, "disk_format_version")).isPositive();
    assertThat(number(info, "sizes/file")).isNotNegative();
    assertThat(number(info, "sizes/active")).isPositive();
    at(info, "compact_running");
    assertThat(text(info, "update_seq")).isNotEmpty();
    at(info, "props");

    JsonArray designs =
        (JsonArray)
            at(
                get(
                    "/w/_all_docs?startkey=\"_design/\"&endkey=\"_design0\"&include_docs=true"
                        .replace("\"", "%22")),
                "rows");
    assertThat(text(designs.elements().get(0), "doc/_id")).isEqualTo("_design/d");
    at(designs.elements().get(0), "doc/views/v");

    assertThat(((JsonArray) at(get("/_scheduler/jobs"), "jobs")).elements()).isEmpty();
    assertThat(number(get("/_scheduler/jobs"), "total_rows")).isZero();
    assertThat(((JsonArray) get("/_all_dbs")).elements()).hasSize(1);
    assertTasks(node);
    JsonValue system = get("/_node/" + node + "/_system");
    below("memory", "other", "atom", "atom_used", "processes", "processes_used", "binary", "code")
        .forEach(path -> assertThat(number(system, path)).as(path).isNotNegative());
    assertThat(number(system, "memory/ets")).isNotNegative();
    assertThat(number(system, "memory/processes_used")).isPositive();
    Stream.of("run_queue", "process_count", "process_limit", "internal_replication_jobs", "uptime")
        .forEach(path -> assertThat(number(system, path)).as(path).isNotNegative());
    assertThat(at(system, "message_queues")).isInstanceOf(JsonObject.class);
    assertThat(at(system, "distribution")).isInstanceOf(JsonObject.class);
  }

  private void assertTasks(String node) {
    for (String list : List.of("/_active_tasks", "/_node/_local/_active_tasks")) {
      assertThat(((JsonArray) get(list)).elements()).isEmpty();
    }
    try (RunningTask task = store.tasks().begin("database_comparison", "w")) {
      task.outOf(4).advance(1);
      for (String list : List.of("/_active_tasks", "/_node/_local/_active_tasks")) {
        JsonValue shown = ((JsonArray) get(list)).elements().get(0);
        assertThat(text(shown, "node")).isEqualTo(node);
        assertThat(text(shown, "type")).isEqualTo("database_comparison");
        assertThat(number(shown, "updated_on")).isPositive();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"_stats", "_system"})
  void an_exporter_needs_no_admin(String figures) {
    asRoot("PUT", "/_users").send();
    asRoot("PUT", "/_users/org.couchdb.user:prom")
        .json(
            "{\"_id\":\"org.couchdb.user:prom\",\"name\":\"prom\",\"type\":\"user\","
                + "\"roles\":[\"_metrics\"],\"password\":\"prom\"}")
        .send();
    Request asExporter =
        server.request("GET", "/_node/_local/" + figures, "Authorization", "Basic cHJvbTpwcm9t");

    asExporter.send().expect(200);
    server.get("/_node/_local/" + figures).expect(401);
  }

  private Answer set(String name, String value) {
    return asRoot("PUT", CONFIG + "/" + name)
        .json("\"" + value.replace("\"", "\\\"") + "\"")
        .send();
  }

  /** Each line of the script is a request of its own, whose failure does not end it. */
  @Test
  void livesyncs_set_up_script_runs_through() {
    assertThat(server.get("/_up").body()).contains("\"status\":\"ok\"");
    setUp().expect(201);
    Answer again = setUp().expect(400);
    assertThat(again.member("reason")).isEqualTo("Cluster is already finished");

    for (Map.Entry<String, String> setting :
        Map.of(
                "chttpd/require_valid_user", "true",
                "chttpd_auth/require_valid_user", "true",
                "httpd/enable_cors", "true",
                "chttpd/enable_cors", "true",
                "chttpd/max_http_request_size", Long.toString(MAX_REQUEST),
                "couchdb/max_document_size", Long.toString(MAX_DOCUMENT),
                "cors/credentials", "true",
                "cors/origins", String.join(",", ORIGINS))
            .entrySet()) {
      assertThat(set(setting.getKey(), setting.getValue()).status())
          .as(setting.getKey())
          .isEqualTo(200);
    }
    for (String database : List.of("_users", "_replicator")) {
      asRoot("GET", "/" + database).send().expect(200);
      asRoot("PUT", "/" + database).send().expect(412);
    }
    asRoot("GET", "/obsidiannotes").send().expect(404);
    asRoot("PUT", "/obsidiannotes").send().expect(201);
  }

  private Answer setUp() {
    return asRoot("POST", "/_cluster_setup")
        .json(
            "{\"action\":\"enable_single_node\",\"username\":\"root\",\"password\":\"root\","
                + "\"bind_address\":\"0.0.0.0\",\"port\":5984,\"singlenode\":true}")
        .send();
  }

  /** The check answers "fix" to sizes, which its script or its button then sets. */
  @Test
  void livesyncs_check_of_a_server_finds_what_it_wants() {
    assertThat(size(get(CONFIG), "chttpd/max_http_request_size")).isLessThan(MAX_REQUEST);
    assertThat(size(get(CONFIG), "couchdb/max_document_size")).isLessThan(MAX_DOCUMENT);
    set("chttpd/max_http_request_size", Long.toString(MAX_REQUEST));
    set("couchdb/max_document_size", Long.toString(MAX_DOCUMENT));
    JsonValue config = get(CONFIG);

    at(config, "admins/root");
    assertThat(text(config, "chttpd/require_valid_user")).isEqualTo("true");
    assertThat(text(config, "chttpd_auth/require_valid_user")).isEqualTo("true");
    assertThat(text(config, "httpd/WWW-Authenticate")).startsWith("Basic realm=");
    assertThat(text(config, "chttpd/enable_cors")).isEqualTo("true");
    assertThat(text(config, "httpd/enable_cors")).isEqualTo("true");
    assertThat(size(config, "chttpd/max_http_request_size")).isEqualTo(MAX_REQUEST);
    assertThat(size(config, "couchdb/max_document_size")).isEqualTo(MAX_DOCUMENT);
    assertThat(text(config, "cors/credentials")).isEqualTo("true");
    assertThat(text(config, "cors/origins").split(",")).containsAll(ORIGINS);
    for (String origin : ORIGINS) {
      Answer answer = asRoot("GET", CONFIG).header("Origin", origin).send().expect(200);
      assertThat(answer.header("access-control-allow-credentials")).isEqualTo("true");
      assertThat(answer.header("access-control-allow-origin")).isEqualTo(origin);
    }
  }
}
