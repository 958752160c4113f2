package lectus.http.api;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.config.HttpKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The resources at the top, and the headers that all answers share. */
final class ServerResourcesTest {
  private static final Pattern SAMPLE =
      Pattern.compile("(?m)^(couchdb_[a-z_]+)(\\{[a-z_]+=\"[^\"]+\"\\})? ([0-9.E+-]+)$");

  private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (couchdb_\\S+) (\\S+)$");

  /** With the type that CouchDB says. */
  private static final Map<String, String> READ =
      Map.ofEntries(
          Map.entry("couchdb_auth_cache_misses_total", "counter"),
          Map.entry("couchdb_auth_cache_requests_total", "counter"),
          Map.entry("couchdb_couch_log_requests_total", "counter"),
          Map.entry("couchdb_couch_replicator_checkpoints_total", "counter"),
          Map.entry("couchdb_couch_replicator_checkpoints_failure_total", "counter"),
          Map.entry("couchdb_couch_replicator_jobs_running", "gauge"),
          Map.entry("couchdb_couch_replicator_requests_total", "counter"),
          Map.entry("couchdb_couch_replicator_responses_failure_total", "counter"),
          Map.entry("couchdb_database_reads_total", "counter"),
          Map.entry("couchdb_database_writes_total", "counter"),
          Map.entry("couchdb_ddoc_cache_requests_total", "counter"),
          Map.entry("couchdb_erlang_gc_collections_total", "counter"),
          Map.entry("couchdb_erlang_memory_bytes", "gauge"),
          Map.entry("couchdb_erlang_processes", "gauge"),
          Map.entry("couchdb_fabric_read_repairs_failures_total", "counter"),
          Map.entry("couchdb_fabric_worker_timeout_total", "counter"),
          Map.entry("couchdb_httpd_aborted_requests_total", "counter"),
          Map.entry("couchdb_httpd_bulk_requests_total", "counter"),
          Map.entry("couchdb_httpd_clients_requesting_changes", "gauge"),
          Map.entry("couchdb_httpd_purge_requests_total", "counter"),
          Map.entry("couchdb_httpd_request_methods", "counter"),
          Map.entry("couchdb_httpd_requests_total", "counter"),
          Map.entry("couchdb_httpd_status_codes", "counter"),
          Map.entry("couchdb_httpd_view_reads_total", "counter"),
          Map.entry("couchdb_internal_replication_jobs", "gauge"),
          Map.entry("couchdb_mango_docs_examined_total", "counter"),
          Map.entry("couchdb_mango_query_time_seconds", "summary"),
          Map.entry("couchdb_mango_unindexed_queries_total", "counter"),
          Map.entry("couchdb_open_databases", "gauge"),
          Map.entry("couchdb_open_os_files", "gauge"),
          Map.entry("couchdb_request_time_seconds", "summary"),
          Map.entry("couchdb_uptime_seconds", "counter"));

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

  @Test
  void every_answer_has_couchdbs_headers() {
    Answer up = server.get("/_up").expect(200);
    assertThat(up.reason()).isEqualTo("OK");
    assertThat(up.header("content-type")).isEqualTo("application/json");
    assertThat(up.header("server")).startsWith("CouchDB/3.5.2 (Lectus/").endsWith(")");
    assertThat(up.header("cache-control")).isEqualTo("must-revalidate");
    assertThat(up.header("x-couchdb-body-time")).isEqualTo("0");
    assertThat(up.header("x-couch-request-id")).matches("[0-9a-f]{10}");
    assertThat(up.header("content-length")).isEqualTo("27");
    assertThat(up.header("date")).endsWith(" GMT");
    assertThat(up.headers()).doesNotContainKey("content-encoding");
    up.expect("{\"status\":\"ok\",\"seeds\":{}}\n");
  }

  @Test
  void request_ids_differ() {
    assertThat(server.get("/_up").header("x-couch-request-id"))
        .isNotEqualTo(server.get("/_up").header("x-couch-request-id"));
  }

  @Test
  void head_has_gets_headers_and_no_body() {
    Answer head = server.head("/_up").expect(200);
    assertThat(head.header("content-length")).isEqualTo("27");
    server.head("/nodb").expect(404);
    assertThat(server.head("/nodb").header("content-length"))
        .isEqualTo(server.get("/nodb").header("content-length"));
  }

  @Test
  void root_tells_who_answers() {
    Answer root = server.get("/");

    assertThat(root.body())
        .matches(
            json(
                "\\{'couchdb':'Welcome','version':'3\\.5\\.2','git_sha':'[^']+','uuid':'[0-9a-f]{32}','features':\\[[^]]*],'vendor':\\{'name':'Lectus','version':'[^']+'}}\n"));
    server.get("//").expect(root.body());
    server.get("/?unknown=1").expect(root.body());
    server.get("http://host/").expect(root.body());
  }

  @Test
  void uuids_are_given_uncached() {
    Answer two = server.get("/_uuids?count=2");

    assertThat(two.body()).matches("\\{\"uuids\":\\[\"[0-9a-f]{32}\",\"[0-9a-f]{32}\"]}\n");
    assertThat(two.header("cache-control")).isEqualTo("no-cache");
    assertThat(two.header("pragma")).isEqualTo("no-cache");
    assertThat(two.header("expires")).contains("1990");
    assertThat(two.header("etag")).matches("\"[^\"]+\"");
    server.get("/_uuids?count=0").expect("{\"uuids\":[]}\n");
  }

  @Test
  void a_server_whose_store_does_not_work_is_not_up(@TempDir Path folder) {
    Store store = EmbeddedStores.open(folder);
    try (LectusServer failing = LectusServer.start(store)) {
      store.close();

      Answer up = failing.get("/_up").expect(503);
      assertThat(up.member("reason")).isEqualTo("The store does not work; the log says why.");
      assertThat(up.header("retry-after")).isEqualTo("1");
      failing.head("/_up").expect(503);
    }
  }

  @Test
  void a_thousand_uuids_are_all_different() {
    String[] uuids = server.get("/_uuids?count=1000").body().split("\"");

    assertThat(new HashSet<>(Arrays.asList(uuids))).hasSize(1_000 + 5);
  }

  @ParameterizedTest
  @CsvSource({
    "1001,count parameter too large",
    "-1,count must be a positive integer",
    "x,count must be a positive integer"
  })
  void a_bad_count_is_400(String count, String reason) {
    server
        .get("/_uuids?count=" + count)
        .expect(400, json("{'error':'bad_request','reason':'%s'}\n").formatted(reason));
  }

  @Test
  void clients_find_no_tasks() {
    server.get("/_active_tasks").expect("[]\n");
    server.get("/favicon.ico").expect(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "POST|/|GET,HEAD",
        "DELETE|/_up|GET,HEAD",
        "POST|/_all_dbs|GET,HEAD",
        "DELETE|/_dbs_info|GET,HEAD,POST",
        "PUT|/_active_tasks|GET,HEAD",
        "PUT|/_session|GET,HEAD,POST,DELETE",
        "DELETE|/_cluster_setup|GET,POST",
        "POST|/_scheduler/jobs|GET,HEAD",
        "PUT|/_scheduler/docs|GET,HEAD",
        "POST|/_lectus|GET,HEAD",
        "DELETE|/_lectus/dashboard.js|GET,HEAD",
        "POST|/_utils|GET,HEAD",
        "DELETE|/_utils/|GET,HEAD"
      })
  void a_wrong_method_is_405_with_those_allowed(String method, String target, String allow) {
    Answer answer = server.request(method, target).send().expect(405);
    assertThat(answer.header("allow")).isEqualTo(allow);
    answer.expect("{\"error\":\"method_not_allowed\",\"reason\":\"Only " + allow + " allowed\"}\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/_node/_local/_smoosh/status", "/w/_time_seq", "/w/_design/d/_nouveau/i/q"})
  void what_couchdb_has_and_lectus_has_not_is_501_with_a_sentence(String target) {
    server.put("/w");
    Answer answer = server.get(target).expect(501);
    assertThat(answer.member("error")).isEqualTo("not_implemented");
    assertThat(answer.member("reason")).endsWith("that Lectus does not have.");
  }

  @ParameterizedTest
  @CsvSource({"_show/s/a, format", "_list/l/v, format the rows", "_rewrite/x, proxy"})
  void what_couchdb_drops_is_501_with_what_does_the_same(String path, String instead) {
    server.put("/w");
    Answer answer = server.get("/w/_design/d/" + path).expect(501);
    assertThat(answer.member("reason")).contains("CouchDB 4", instead);
  }

  @Test
  void databases_are_listed_by_name() {
    for (String name : new String[] {"b", "a", "c%2Fd", "_replicator"}) {
      server.put("/" + name);
    }

    Answer all = server.get("/_all_dbs").expect("[\"_replicator\",\"a\",\"b\",\"c/d\"]\n");
    assertThat(all.isChunked()).isTrue();
    server.get("/_all_dbs?limit=1&skip=1").expect("[\"a\"]\n");
    server.get("/_all_dbs?startkey=%22b%22").expect("[\"b\",\"c/d\"]\n");
    server.get("/_all_dbs?startkey=%22a%22&endkey=%22b%22").expect("[\"a\",\"b\"]\n");
    server.get("/_all_dbs?startkey=%22a%22&endkey=%22b%22&inclusive_end=false").expect("[\"a\"]\n");
    server
        .get("/_all_dbs?startkey=%22b%22&endkey=%22a%22&inclusive_end=false&descending=true")
        .expect("[\"b\"]\n");
    server.get("/_all_dbs?key=%22b%22").expect("[\"b\"]\n");
    server.get("/_all_dbs?descending=true&limit=2").expect("[\"c/d\",\"b\"]\n");
    server.get("/_all_dbs?limit=0").expect("[]\n");
    assertThat(server.head("/_all_dbs").header("content-length")).isNull();
  }

  @Test
  void if_none_match_saves_a_list_of_databases_that_has_not_changed() {
    Answer none = server.get("/_all_dbs");
    server.put("/a");
    Answer one = server.get("/_all_dbs");
    assertThat(one.header("etag")).isNotNull().isNotEqualTo(none.header("etag"));
    server.put("/a/doc", "{}");
    server.put("/a");

    Answer same = allDbsUnlike(one, "GET").expect(304);
    assertThat(same.header("etag")).isEqualTo(one.header("etag"));
    allDbsUnlike(one, "HEAD").expect(304);
    assertThat(server.head("/_all_dbs").header("etag")).isEqualTo(one.header("etag"));

    server.delete("/a");
    assertThat(allDbsUnlike(one, "GET").body()).isEqualTo("[]\n");
    assertThat(allDbsUnlike(none, "GET").status()).as("deleted is not never there").isEqualTo(200);
  }

  private Answer allDbsUnlike(Answer seen, String method) {
    return server.request(method, "/_all_dbs", "If-None-Match", seen.header("etag")).send();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "limit=x|Invalid value for integer: \\\"x\\\"",
        "skip=-1|Invalid value for positive integer: \\\"-1\\\"",
        "descending=maybe|Invalid boolean parameter: \\\"maybe\\\""
      })
  void an_unparsable_parameter_of_a_list_is_400(String query, String reason) {
    server
        .get("/_all_dbs?" + query)
        .expect(400, json("{'error':'query_parse_error','reason':'%s'}\n").formatted(reason));
  }

  @Test
  void lists_of_databases_have_the_parameters_of_lists_of_documents() {
    for (String list : new String[] {"/_all_dbs", "/_dbs_info"}) {
      server
          .get(list + "?startkey=a")
          .expect(400, json("{'error':'bad_request','reason':'invalid UTF-8 JSON'}\n"));
      assertThat(server.get(list + "?group=true").member("reason"))
          .isEqualTo("Invalid use of grouping on a map view.");
    }
  }

  @Test
  void infos_of_many_databases_come_at_once() {
    server.put("/w");
    server.put("/x");
    String w = server.get("/w").body().trim();

    server.get("/_dbs_info?limit=1").expect("[{\"key\":\"w\",\"info\":" + w + "}]\n");
    server.get("/_dbs_info?startkey=%22y%22").expect("[]\n");
    server
        .post("/_dbs_info", json("{'keys':['w','nodb','No',5]}"))
        .expect(
            json("[{'key':'w','info':%s},{'key':'nodb','error':'not_found'},{'key':'No','error':'not_found'},{'key':5,'error':'not_found'}]\n")
                .formatted(w));
  }

  @Test
  void infos_are_asked_for_by_a_hundred_keys_at_most() {
    String hundred = "\"k\"" + ",\"k\"".repeat(99);

    server.post("/_dbs_info", "{\"keys\":[" + hundred + "]}").expect(200);
    server
        .post("/_dbs_info", json("{'keys':[%s,'k']}").formatted(hundred))
        .expect(400, json("{'error':'bad_request','reason':'too_many_keys'}\n"));
    server.post("/_dbs_info", "{}").expect(400);
    server.post("/_dbs_info", "{\"keys\":3}").expect(400);
  }

  @Test
  void a_server_that_has_no_others_beside_it_is_the_only_member() {
    String self = "[\"lectus@127.0.0.1:" + server.port() + "\"]";

    server
        .get("/_membership")
        .expect(json("{'all_nodes':%s,'cluster_nodes':%s}\n").formatted(self, self));
    assertThat(server.put("/_membership").header("allow")).isEqualTo("GET");
  }

  @Test
  void the_server_header_is_as_configured() {
    TestSettings settings = new TestSettings().with(HttpKeys.SERVER_HEADER, "other/1 (x)");
    try (LectusServer other = LectusServer.start(stores.fresh(), settings)) {
      assertThat(other.get("/_up").header("server")).isEqualTo("other/1 (x)");
    }
  }

  private Map<String, Double> samples() {
    Map<String, Double> samples = new TreeMap<>();
    Matcher sample = SAMPLE.matcher(server.get("/_node/_local/_prometheus").body());
    while (sample.find()) {
      String labels = sample.group(2) == null ? "" : sample.group(2);
      assertThat(samples.put(sample.group(1) + labels, Double.parseDouble(sample.group(3))))
          .isNull();
    }
    return samples;
  }

  private static Map<String, String> types(String text) {
    Map<String, String> types = new TreeMap<>();
    Matcher type = TYPE.matcher(text);
    while (type.find()) {
      assertThat(types.put(type.group(1), type.group(2))).isNull();
    }
    return types;
  }

  @Test
  void the_families_of_couchdb_are_there_under_its_names_and_types() {
    assertThat(types(server.get("/_node/_local/_prometheus").body())).containsAllEntriesOf(READ);
  }

  @Test
  void they_count_what_is_done() {
    server.put("/w");
    server.put("/w/a", "{}");
    Map<String, Double> before = samples();

    server.get("/w/a");
    server.get("/w/none");
    server.put("/w/b", "{}");

    Map<String, Double> now = samples();
    List.of(
            "couchdb_httpd_request_methods{method=\"GET\"}",
            "couchdb_httpd_status_codes{code=\"404\"}",
            "couchdb_httpd_status_codes{code=\"201\"}",
            "couchdb_httpd_requests_total",
            "couchdb_database_reads_total",
            "couchdb_database_writes_total",
            "couchdb_request_time_seconds_count",
            "couchdb_request_time_seconds_sum")
        .forEach(name -> assertThat(now.get(name)).as(name).isGreaterThan(before.get(name)));
    assertThat(now.get("couchdb_open_databases")).isPositive();
    assertThat(now.get("couchdb_erlang_memory_bytes{memory_type=\"processes_used\"}")).isPositive();
    assertThat(now).containsKey("couchdb_request_time_seconds{quantile=\"0.999\"}");
  }

  @Test
  void as_open_metrics_they_end_with_its_end_and_totals_alone_are_counters() {
    Answer answer =
        server
            .request("GET", "/_node/_local/_prometheus", "Accept", "application/openmetrics-text")
            .send();

    Map<String, String> types = types(answer.body());
    assertThat(answer.body()).endsWith("# EOF\n").containsOnlyOnce("# EOF");
    assertThat(types)
        .containsEntry("couchdb_httpd_requests", "counter")
        .containsEntry("couchdb_httpd_status_codes", "unknown")
        .containsEntry("couchdb_uptime_seconds", "unknown")
        .containsEntry("couchdb_request_time_seconds", "summary");
    assertThat(answer.body()).contains("\ncouchdb_httpd_requests_total ");
  }
}
