package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.config.MetricsKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.FreePorts;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What programs read of a server: Prometheus, and those made for CouchDB. */
final class HttpMetricsTest {
  private static final String PROMETHEUS = "/_node/_local/_prometheus";
  private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (lectus_\\S+) (\\S+)$");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z]\\S*) ([0-9.E+-]+)$");

  @RegisterExtension static final TestStores stores = new TestStores();

  private int metricsPort;
  @AutoClose private LectusServer server;

  @BeforeEach
  void start() throws IOException {
    metricsPort = FreePorts.one();
    server =
        LectusServer.start(
            stores.fresh(), new TestSettings().with(MetricsKeys.METRICS_PORT, metricsPort));
  }

  private Map<String, Double> samples() {
    return SAMPLE
        .matcher(server.get(PROMETHEUS).body())
        .results()
        .collect(
            Collectors.toMap(
                it -> it.group(1), it -> Double.parseDouble(it.group(2)), Double::sum));
  }

  /** Returns by how much the figures have risen that have. */
  private Map<String, Double> rise(Map<String, Double> before) {
    Map<String, Double> risen = new TreeMap<>();
    samples()
        .forEach(
            (name, value) -> {
              double by = value - before.getOrDefault(name, 0.0);
              if (by > 0) {
                risen.put(name, by);
              }
            });
    return risen;
  }

  @Test
  void all_names_are_in_the_list() throws IOException {
    Assumptions.assumeFalse("foundationdb".equals(System.getProperty("lectus.test.store")));
    server.get("/_up");
    String names =
        TYPE.matcher(server.get(PROMETHEUS).body())
            .results()
            .map(it -> it.group(1) + " " + it.group(2))
            .sorted()
            .collect(Collectors.joining("\n", "", "\n"));

    assertThat(names).isEqualTo(listedNames());
  }

  private static String listedNames() throws IOException {
    try (var in = HttpMetricsTest.class.getResourceAsStream("/metrics/names.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void requests_run_until_they_are_answered_or_their_clients_leave() {
    server.put("/w");
    server.get("/nodb");
    server.put("/w/a", "{");
    server.request("BREW", "/w").send();
    assertThat(running()).as("the request that asks").isEqualTo(1);
    try (Connection feed =
        server.request("GET", "/w/_changes?feed=continuous&heartbeat=60000").open()) {
      feed.readHead();
      assertThat(running()).isEqualTo(2);
    }
    Await.until("it has left", () -> running() == 1);
    try (SocketClient socket = SocketClient.connect(server, "/_changes", "lectus.changes.v1")) {
      assertThat(socket.protocol()).isEqualTo("lectus.changes.v1");
      Await.until("it is no request any more", () -> running() == 1);
    }
  }

  private double running() {
    return samples().get("lectus_http_running_requests");
  }

  @Test
  void figures_are_prometheus_text() {
    Answer answer = server.get(PROMETHEUS).expect(200);
    assertThat(answer.header("content-type")).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body())
        .contains("# HELP lectus_connections Open connections.")
        .contains("jvm_memory_used_bytes{")
        .contains("process_uptime_seconds ");
    server.head(PROMETHEUS).expect(200);
    server.post(PROMETHEUS, "{}").expect(405);
    server.get("/_node/nobody/_prometheus").expect(404);
  }

  @Test
  void requests_count_by_route_and_status() {
    server.put("/secret");
    Map<String, Double> before = samples();
    server.write("/secret/hidden", "{}");
    server.get("/secret/hidden");
    server.get("/secret/hidden");
    server.get("/secret/none");
    server.get("/%zz");

    Map<String, Double> risen = rise(before);
    assertThat(risen)
        .containsEntry("lectus_http_requests_total{route=\"/{db}/{docid}\",status=\"201\"}", 1.0)
        .containsEntry("lectus_http_requests_total{route=\"/{db}/{docid}\",status=\"200\"}", 2.0)
        .containsEntry("lectus_http_requests_total{route=\"/{db}/{docid}\",status=\"404\"}", 1.0)
        .containsEntry("lectus_http_requests_total{route=\"other\",status=\"400\"}", 1.0)
        .containsEntry("lectus_http_request_seconds_count{route=\"/{db}/{docid}\"}", 4.0)
        .containsEntry("lectus_http_methods_total{method=\"PUT\"}", 1.0);
    assertThat(server.get(PROMETHEUS).body()).doesNotContain("secret").doesNotContain("hidden");
  }

  @Test
  void writes_count_as_transactions_and_batches() {
    server.put("/w");
    Map<String, Double> before = samples();
    server.write("/w/a", "{}");

    Map<String, Double> risen = rise(before);
    assertThat(risen.get("lectus_transactions_total")).isGreaterThanOrEqualTo(1);
    assertThat(risen.get("lectus_commit_seconds_count")).isGreaterThanOrEqualTo(1);
    double edits =
        risen.entrySet().stream()
            .filter(it -> it.getKey().startsWith("lectus_write_batch_edits_sum"))
            .mapToDouble(Map.Entry::getValue)
            .sum();
    assertThat(edits).isEqualTo(1);
  }

  @Test
  void a_hot_document_is_a_hit() {
    server.put("/w");
    server.write("/w/a", "{}");
    server.get("/w/a");
    server.get("/w/a");
    Map<String, Double> before = samples();
    server.get("/w/a");

    assertThat(rise(before)).containsEntry("lectus_cache_hits_total{cache=\"documents\"}", 1.0);
  }

  /** What a feed reads before it has caught up is as old as it is. */
  @Test
  void rows_that_a_feed_waited_for_have_a_lag() {
    server.put("/w");
    server.write("/w/a", "{}");
    Map<String, Double> before = samples();
    try (Connection feed =
        server.request("GET", "/w/_changes?feed=continuous&heartbeat=60000").open()) {
      feed.readHead();
      assertThat(feed.chunkText()).contains("\"id\":\"a\"");
      long begun = System.nanoTime();
      server.write("/w/b", "{}");
      assertThat(feed.chunkText()).contains("\"id\":\"b\"");
      double seconds = (System.nanoTime() - begun) / 1e9;

      Map<String, Double> risen = rise(before);
      assertThat(risen)
          .containsEntry("lectus_feed_listeners", 1.0)
          .containsEntry("lectus_feed_rows_total", 2.0)
          .containsEntry("lectus_feed_delivery_lag_seconds_count", 1.0);
      assertThat(risen.get("lectus_feed_delivery_lag_seconds_sum")).isBetween(0.0, seconds);
    }
  }

  @Test
  void a_wrong_password_counts() {
    server.put("/_node/_local/_config/admins/root", "\"right\"");
    server.request("GET", "/_all_dbs", "Authorization", "Basic cm9vdDp3cm9uZw==").send();

    String figures = new Request(metricsPort, "GET", "/metrics").send().body();
    assertThat(figures).contains("lectus_logins_total{result=\"refused\"} 1.0\n");
  }

  @Test
  void figures_need_a_log_in_but_on_their_own_port() {
    server.put("/_node/_local/_config/admins/root", "\"right\"");

    for (String path : new String[] {"_prometheus", "_stats", "_system"}) {
      server.get("/_node/_local/" + path).expect(401);
    }
    Answer own = new Request(metricsPort, "GET", "/metrics").send().expect(200);
    assertThat(own.body()).contains("lectus_connections ");
    new Request(metricsPort, "GET", PROMETHEUS).send().expect(200);
    new Request(metricsPort, "GET", "/_all_dbs").send().expect(404);
    new Request(metricsPort, "POST", "/metrics").send().expect(405);
  }

  /** The requests of gesellix/couchdb-prometheus-exporter, and the members that it reads. */
  @Test
  void an_exporter_for_couchdb_finds_what_it_reads() {
    server.put("/w");
    server.write("/w/a", "{}");

    assertThat(server.get("/").member("version")).startsWith("3.");
    assertThat(server.get("/_membership").body()).contains("\"cluster_nodes\":[\"lectus@");
    String node = server.get("/_node/_local").member("name");
    String stats = server.get("/_node/" + node + "/_stats").body();
    for (String path :
        new String[] {
          "couchdb/database_reads",
          "couchdb/database_writes",
          "couchdb/open_os_files",
          "couchdb/httpd/requests",
          "couchdb/httpd/bulk_requests",
          "couchdb/httpd/clients_requesting_changes",
          "couchdb/httpd_request_methods/PUT",
          "couchdb/httpd_status_codes/201"
        }) {
      assertThat(numberAt(stats, path + "/value")).as(path).isGreaterThanOrEqualTo(0);
    }
    assertThat(numberAt(stats, "couchdb/httpd_status_codes/201/value")).isEqualTo(2);
    assertThat(numberAt(stats, "couchdb/request_time/value/n")).isGreaterThanOrEqualTo(2);
    String system = server.get("/_node/" + node + "/_system").body();
    for (String memory :
        "other,atom,atom_used,processes,processes_used,binary,code,ets".split(",")) {
      assertThat(numberAt(system, "memory/" + memory)).isGreaterThanOrEqualTo(0);
    }
    server.get("/_active_tasks").expect("[]\n");
    server.get("/_scheduler/jobs").expect(200);
    server.get("/_all_dbs").expect("[\"w\"]\n");
    server.get("/w").expect(200);
  }

  @Test
  void queries_of_views_are_counted() {
    server.put("/w");
    server.write("/w/_design/d", "{\"views\":{\"v\":{\"map\":\"function(doc) { emit(1); }\"}}}");
    server.get("/w/_design/d/_view/v").expect(200);
    server.post("/w/_design/d/_view/v/queries", "{\"queries\":[{}]}").expect(200);
    server.get("/w/_design/d").expect(200);

    String stats = server.get("/_node/_local/_stats/couchdb/httpd").body();
    assertThat(numberAt(stats, "view_reads/value")).isEqualTo(2);
  }

  private static double numberAt(String json, String path) {
    JsonValue value = JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
    for (String name : path.split("/")) {
      value = ((JsonValue.JsonObject) value).get(name).orElseThrow();
    }
    return Double.parseDouble(((JsonValue.JsonNumber) value).text());
  }

  @ParameterizedTest
  @CsvSource({
    "couchdb/httpd/requests, '{\"value\":'",
    "couchdb/request_time, '{\"value\":{\"min\":'",
    "couchdb/httpd_request_methods, '{\"COPY\":{\"value\":0,\"type\":\"counter\",'",
    "nothing, null",
    "couchdb/httpd/requests/below, null"
  })
  void one_figure_is_found_by_its_path(String path, String beginning) {
    Answer answer = server.get("/_node/_local/_stats/" + path).expect(200);
    assertThat(answer.body()).startsWith(beginning);
  }

  @Test
  void queries_are_counted() {
    server.put("/w");
    for (int i = 0; i < 25; i++) {
      server.write("/w/" + i, "{\"n\":" + i + "}");
    }
    assertThat(server.post("/w/_find", "{\"selector\":{\"n\":3}}").body())
        .contains("\"_id\":\"3\"");
    String other = "{\"selector\":{\"m\":3},\"use_index\":\"i\",\"r\":2}";
    assertThat(server.post("/w/_find", other).body()).contains("\"docs\":[");

    String mango = server.get("/_node/_local/_stats/mango").body();
    assertThat(numberAt(mango, "docs_examined/value")).isEqualTo(25);
    assertThat(numberAt(mango, "quorum_docs_examined/value")).isEqualTo(25);
    assertThat(numberAt(mango, "evaluate_selector/value")).isGreaterThanOrEqualTo(50);
    assertThat(numberAt(mango, "results_returned/value")).isEqualTo(1);
    assertThat(numberAt(mango, "unindexed_queries/value")).isEqualTo(2);
    assertThat(numberAt(mango, "query_invalid_index/value")).isEqualTo(1);
    assertThat(numberAt(mango, "too_many_docs_scanned/value")).isEqualTo(2);
    assertThat(numberAt(mango, "query_time/value/n")).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"_stats", "_system", "_versions", "_prometheus"})
  void figures_are_only_read(String name) {
    Answer answer = server.put("/_node/_local/" + name, "{}").expect(405);
    assertThat(answer.header("allow")).isEqualTo("GET");
  }

  @Test
  void each_name_has_one_meaning_and_one_set_of_labels() {
    server.get("/_up");
    Map<String, TreeSet<String>> labels = new TreeMap<>();
    samples()
        .keySet()
        .forEach(
            sample -> {
              int brace = sample.indexOf('{');
              String name = brace < 0 ? sample : sample.substring(0, brace);
              String names =
                  brace < 0
                      ? ""
                      : Arrays.stream(sample.substring(brace + 1, sample.length() - 1).split("\","))
                          .map(label -> label.replaceAll("=.*", ""))
                          .collect(Collectors.joining(","));
              labels.computeIfAbsent(name, absent -> new TreeSet<>()).add(names);
            });

    assertThat(labels).allSatisfy((name, sets) -> assertThat(sets).as(name).hasSize(1));
  }
}
