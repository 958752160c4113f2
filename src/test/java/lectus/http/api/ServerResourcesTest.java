package lectus.http.api;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.config.HttpKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
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

/**
 * The resources at the top and the headers that all answers share; and the requests of set-up
 * scripts, dashboards and people with a browser.
 */
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
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String COOKIE = "AuthSession=[A-Za-z0-9_-]+; Version=1; .*";
  private static final String NO_COOKIE = "AuthSession=; Version=1; .*";

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

  @Test
  void set_up_makes_the_databases_of_the_system_and_the_admin_that_is_named() {
    assertThat(state("")).isEqualTo("single_node_disabled");
    assertThat(state("?ensure_dbs_exist=[]")).isEqualTo("single_node_enabled");
    server.put("/_users", "");
    assertThat(state("?ensure_dbs_exist=[\"_users\"]")).isEqualTo("single_node_enabled");
    assertThat(state("")).isEqualTo("single_node_disabled");

    server
        .post(
            "/_cluster_setup",
            "{\"action\":\"enable_single_node\",\"username\":\"ann\",\"password\":\"x\","
                + "\"bind_address\":\"0.0.0.0\",\"port\":5984,\"singlenode\":true}")
        .expect(201, "{\"ok\":true}\n");
    server.get("/_all_dbs").expect(401);
    asAnn("GET", "/_all_dbs").send().expect("[\"_replicator\",\"_users\"]\n");
    assertThat(asAnn("GET", "/_cluster_setup").send().member("state"))
        .isEqualTo("single_node_enabled");
    asAnn("POST", "/_cluster_setup")
        .json("{\"action\":\"finish_cluster\",\"ensure_dbs_exist\":[\"more\"]}")
        .send()
        .expect(201);
    asAnn("GET", "/more").send().expect(200);
  }

  private String state(String query) {
    return server.get("/_cluster_setup" + query.replace("\"", "%22")).member("state");
  }

  private Request asAnn(String method, String target) {
    return server.request(method, target, "Authorization", "Basic YW5uOng=");
  }

  @Test
  void what_is_no_set_up_is_refused() {
    for (String names : new String[] {"5", "[5]", "{}"}) {
      assertThat(
              server
                  .get("/_cluster_setup?ensure_dbs_exist=" + names.replace("{}", "%7B%7D"))
                  .member("reason"))
          .isEqualTo("ensure_dbs_exist must be a list of names of databases.");
    }
    assertThat(server.get("/_cluster_setup?ensure_dbs_exist=[%22No%22]").member("error"))
        .isEqualTo("illegal_database_name");
    server.head("/_cluster_setup").expect(200);
    server.request("POST", "/_cluster_setup").body(new byte[0]).send().expect(415);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"action":"enable_single_node","password":"x"} | Cluster is already finished
          {"action":"finish_cluster"}                    | Cluster is already finished
          {"action":"enable_cluster"}                    | Cluster is already enabled
          {"action":"add_node"}     | Servers join a cluster by their configuration.
          {"action":"nope"}                              | Invalid Action'
          {"action":5}                                   | Invalid Action'
          {}                                             | Invalid Action'
          []                                             | Request body must be a JSON object
          """)
  void a_set_up_is_finished_already(String body, String reason) {
    server.put("/_users", "");
    server.put("/_replicator", "");

    server
        .post("/_cluster_setup", body)
        .expect(400, "{\"error\":\"bad_request\",\"reason\":\"" + reason + "\"}\n");
  }

  @Test
  void bodies_of_set_up_scripts_are_bounded() {
    String start = "{\"action\":\"nope\",\"x\":\"";
    int room = (16 << 10) - start.length() - "\"}".length();

    server.post("/_cluster_setup", start + "x".repeat(room) + "\"}").expect(400);
    server.post("/_cluster_setup", start + "x".repeat(room + 1) + "\"}").expect(413);
  }

  @Test
  void a_server_tells_its_name() {
    String name = "lectus@127.0.0.1:" + server.port();
    String answer = "{\"name\":\"" + name + "\"}\n";

    server.get("/_node/_local").expect(answer);
    server.post("/_node/_local", "{}").expect(answer);
    server.get("/_node/" + name).expect(answer);
    assertThat(server.get("/_membership").body()).contains("[\"" + name + "\"]");
    for (String usual : List.of("nonode@nohost", "couchdb@127.0.0.1", "couchdb@localhost")) {
      server.get("/_node/" + usual).expect(answer);
      server.get("/_node/" + usual + "/_config/couchdb/single_node").expect("\"true\"\n");
    }
    server
        .get("/_node/nope")
        .expect("{\"error\":\"not_found\",\"reason\":\"no such node: nope\"}\n");
    server
        .get("/_node")
        .expect("{\"error\":\"bad_request\",\"reason\":\"Incomplete path to _node request\"}\n");
  }

  @Test
  void a_browser_is_led_to_the_dashboard() {
    Answer answer =
        server
            .request(
                "GET",
                "/",
                "Accept",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
            .send()
            .expect(302);
    assertThat(answer.header("location")).isEqualTo("_lectus/");
    for (String other :
        List.of(
            "*/*",
            "application/json, text/html",
            "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2")) {
      assertThat(server.request("GET", "/", "Accept", other).send().member("couchdb"))
          .isEqualTo("Welcome");
    }
  }

  @ParameterizedTest
  @CsvSource({"/_scheduler/jobs", "/_scheduler/jobs?limit=5&skip=0", "/_scheduler/jobs?limit=%2B5"})
  void no_replication_runs(String target) {
    server.get(target).expect("{\"total_rows\":0,\"offset\":0,\"jobs\":[]}\n");
  }

  @ParameterizedTest
  @CsvSource({
    "/_scheduler/docs",
    "/_scheduler/docs?limit=5",
    "/_scheduler/docs/_replicator",
    "/_scheduler/docs/a%2F_replicator",
    "/_scheduler/docs/a/_replicator"
  })
  void no_document_asks_for_a_replication(String target) {
    server.get(target).expect("{\"total_rows\":0,\"offset\":0,\"docs\":[\r\n\r\n]}\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          /_scheduler                    | 404 | not_found         | missing
          /_scheduler/x                  | 404 | not_found         | missing
          /_scheduler/jobs/x             | 404 | not_found         | missing
          /_scheduler/docs/_replicator/x | 404 | not_found         | missing
          /_scheduler/docs/x             | 400 | bad_request       | Invalid path
          /_scheduler/docs/x/y           | 400 | bad_request       | Invalid path
          /_scheduler/jobs?limit=x       | 400 | query_parse_error | limit must be an integer
          /_scheduler/jobs?skip=-1       | 400 | query_parse_error | skip not in range of [0,infinity]
          /_scheduler/docs?limit=x | 400 | query_parse_error | Invalid value for integer: \\"x\\"
          """)
  void what_else_is_asked_of_the_scheduler(String target, int status, String error, String reason) {
    server
        .get(target)
        .expect(status, "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n");
  }

  @Test
  void whoever_looks_for_fauxton_is_told_where_it_is() {
    Answer redirected = server.get("/_utils").expect(301);
    assertThat(redirected.header("location")).isEqualTo("http://host/_utils/");

    Answer absent = server.get("/_utils/").expect(404);
    assertThat(absent.member("error")).isEqualTo("not_found");
    assertThat(absent.member("reason")).contains("npm pack fauxton").contains("--utils");
    server.get("/_utils/index.html").expect(404);
  }

  private Answer logIn(String type, String body) {
    Request request = server.request("POST", "/_session");
    if (type != null) {
      request.header("Content-Type", type);
    }
    return request.body(body.getBytes(StandardCharsets.UTF_8)).send();
  }

  private void addUser(String name) {
    server.put("/_users");
    String user = "{\"name\":\"%s\",\"type\":\"user\",\"roles\":[\"a\"],\"password\":\"&=\"}";
    String id = URLEncoder.encode("org.couchdb.user:" + name, StandardCharsets.UTF_8);
    server.put("/_users/" + id, user.formatted(name)).expect(201);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          application/x-www-form-urlencoded | name=jan&password=%26%3D             | jan
          application/x-www-form-urlencoded | username=jan&password=%26%3D         | jan
          application/x-www-form-urlencoded | name=j%C3%BCrgen+x&password=%26%3D   | jürgen x
          application/x-www-form-urlencoded; charset=utf-8 | name=jan&password=%26%3D | jan
          application/json                  | {"name":"jan","password":"&="}       | jan
          application/json; charset=utf-8   | {"username":"a b","password":"&="}   | a b
          """)
  void a_user_logs_in_and_nobody_else_does(String type, String body, String name) {
    logIn(type, body).expect(401);
    addUser(name);
    Answer answer =
        logIn(type, body)
            .expect(200, "{\"ok\":true,\"name\":\"" + name + "\",\"roles\":[\"a\"]}\n");
    assertThat(answer.header("set-cookie")).matches(COOKIE);
    assertThat(answer.header("cache-control")).isEqualTo("must-revalidate");
    Answer wrong = logIn(type, body.replace("%26", "x").replace("&=\"", "x\"")).expect(401);
    assertThat(wrong.header("set-cookie")).matches(NO_COOKIE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          application/x-www-form-urlencoded | password=x     | must contain a username
          application/x-www-form-urlencoded | ~~             | must contain a username
          application/x-www-form-urlencoded | name=a&username=b | different usernames
          application/x-www-form-urlencoded | name=%FF       | not UTF-8
          application/json | {"password":"x"}                | must contain a username
          application/json | {"name":"a","username":"b"}     | different usernames
          application/json | {"name":5}                      | is a string
          application/json | []                              | must be a JSON object
          application/json | x                               | Invalid JSON
          """)
  void who_it_is_has_to_be_said(String type, String body, String reason) {
    Answer answer = logIn(type, body).expect(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.member("reason")).contains(reason);
    assertThat(answer.headers()).doesNotContainKey("set-cookie");
  }

  @Test
  void other_content_types_are_415() {
    for (String type : new String[] {"text/plain", null}) {
      logIn(type, "name=jan")
          .expect(
              415,
              "{\"error\":\"bad_content_type\",\"reason\":\"Content-Type must be"
                  + " 'application/x-www-form-urlencoded' or 'application/json'\"}\n");
    }
  }

  @Test
  void names_and_bodies_are_bounded() {
    logIn(FORM, "name=" + "n".repeat(512)).expect(401);
    Answer tooLong = logIn(FORM, "name=" + "n".repeat(513)).expect(400);
    assertThat(tooLong.member("reason")).isEqualTo("A username has 512 bytes of UTF-8 at most.");
    logIn(FORM, "name=" + "%C3%BC".repeat(257)).expect(400);
    String start = "name=a&password=";
    int room = (16 << 10) - start.length();
    logIn(FORM, start + "p".repeat(room)).expect(401);
    logIn(FORM, start + "p".repeat(room + 1)).expect(413);
  }

  @Test
  void the_session_is_of_whoever_logged_in() {
    assertThat(server.get("/_session").body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    addUser("jürgen");
    String cookie = logIn(FORM, "name=j%C3%BCrgen&password=%26%3D").header("set-cookie");

    String shown = cookie.substring(0, cookie.indexOf(';'));
    Answer session = server.request("GET", "/_session", "Cookie", shown).send();
    assertThat(session.body()).contains("\"name\":\"jürgen\",\"roles\":[\"a\"]");
  }

  @Test
  void logging_out_takes_the_cookie_away() {
    Answer answer = server.delete("/_session").expect(200, "{\"ok\":true}\n");
    assertThat(answer.header("set-cookie")).matches(NO_COOKIE);
  }

  @Test
  void a_form_goes_on_to_a_path_of_this_server() {
    addUser("a");
    Answer in =
        server
            .request("POST", "/_session?next=/_utils/%23x", "Content-Type", FORM)
            .body("name=a&password=%26%3D".getBytes(StandardCharsets.UTF_8))
            .send()
            .expect(302);
    assertThat(in.header("location")).isEqualTo("http://host/_utils/#x");
    assertThat(in.header("set-cookie")).matches(COOKIE);
    assertThat(in.body()).startsWith("{\"ok\":true,\"name\":\"a\"");
    Answer out = server.delete("/_session?next=/x").expect(302);
    assertThat(out.header("location")).isEqualTo("http://host/x");
    assertThat(out.header("set-cookie")).matches(NO_COOKIE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x", "", "@elsewhere/", ".elsewhere/", "/%0d%0aX:%20y", "/%C3%BC", "/a%20b"})
  void it_goes_nowhere_else(String next) {
    server
        .delete("/_session?next=" + next)
        .expect(400, "{\"error\":\"bad_request\",\"reason\":\"path must begin with a /.\"}\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Authorization | Basic amFu
          Authorization | Bearer x.y.z
          Authorization | Nonsense
          Cookie        | a=b
          Cookie        | =;;
          """)
  void who_brings_no_name_and_password_is_an_admin(String header, String value) {
    Answer session = server.request("GET", "/_session", header, value).send();
    assertThat(session.body()).contains("\"name\":null,\"roles\":[\"_admin\"]");
    assertThat(session.headers()).doesNotContainKey("set-cookie");
    server.request("PUT", "/w", header, value).send().expect(201);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/_session", "/_all_dbs", "/_up"})
  void a_wrong_name_and_password_is_refused_whatever_is_asked_for(String path) {
    addUser("jan");
    for (String pair : new String[] {"eve:x", "jan:x"}) {
      basic(path, pair).expect(401);
    }
    basic(path, "jan:&=").expect(path.equals("/_all_dbs") ? 401 : 200);
    server.get(path).expect(200);
  }

  private Answer basic(String path, String pair) {
    String encoded = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    return server.request("GET", path, "Authorization", "Basic " + encoded).send();
  }
}
