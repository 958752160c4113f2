package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What dashboards and alerts for CouchDB read from {@code _prometheus}. */
final class CouchFamiliesTest {
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

  private final LectusServer server = LectusServer.start(stores.fresh());

  @AfterEach
  void stop() {
    server.close();
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
            .request("GET", "/_node/_local/_prometheus")
            .header("Accept", "application/openmetrics-text")
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
