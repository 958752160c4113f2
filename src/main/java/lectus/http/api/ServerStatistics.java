package lectus.http.api;

import ch.qos.logback.classic.Level;
import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import lectus.http.exchange.HttpMetrics;
import lectus.http.exchange.RequestMetrics;
import lectus.http.exchange.RouteTemplate;
import lectus.mango.query.QueryMetrics;
import lectus.mango.query.QueryMetrics.Count;
import lectus.metrics.LogCounts;

/**
 * {@code /_node/{node}/_stats} and what lies below: what CouchDB's exporters read. HttpMetrics
 * begin with the server, and not, as some of CouchDB's, ten seconds ago.
 */
record ServerStatistics(HttpMetrics figures) {
  private static final String LINES_OF = "number of logged lines of level ";

  private static final List<String> METHODS =
      List.of("COPY", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT");

  /** The status of requests whose clients left first. */
  private static final int CLIENT_LEFT = 499;

  /** Those that CouchDB lists, be they 0. */
  private static final int[] STATUSES = {
    200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415,
    416, 417, 500, 501, 503
  };

  StatTree tree() {
    StatTree tree = new StatTree();
    tree.counter(
        "couchdb/database_reads",
        "number of single documents that were read",
        figures.documentReads().getAsLong());
    tree.counter("couchdb/database_writes", "number of commits", figures.commits().getAsLong());
    tree.counter("couchdb/open_os_files", "number of open file descriptors", openFiles());
    tree.histogram(
        "couchdb/request_time",
        "length of a request in milliseconds, without those of live feeds",
        figures.requests().times());
    addCaches(tree);
    addLog(tree, figures.log());
    addRequests(tree, figures.requests());
    addQueries(tree, figures.queries());
    AbsentStatistics.addTo(tree);
    figures
        .replications()
        .get()
        .forEach(
            (name, value) ->
                tree.counter("couch_replicator/" + name, "replications of documents", value));
    return tree;
  }

  private void addCaches(StatTree tree) {
    tree.counter(
        "couchdb/auth_cache_hits", "number of accounts that were known", figures.accounts().hits());
    tree.counter(
        "couchdb/auth_cache_misses",
        "number of accounts that were looked up",
        figures.accounts().misses());
    tree.counter(
        "couchdb/open_databases",
        "number of databases used lately",
        figures.openDatabases().getAsLong());
  }

  /** Other levels than these four are CouchDB's alone. */
  private static void addLog(StatTree tree, LogCounts log) {
    for (String level : List.of("alert", "critical", "emergency", "notice")) {
      tree.counter("couch_log/level/" + level, LINES_OF + level, 0);
    }
    tree.counter("couch_log/level/error", LINES_OF + "error", log.of(Level.ERROR));
    tree.counter("couch_log/level/warning", LINES_OF + "warning", log.of(Level.WARN));
    tree.counter("couch_log/level/info", LINES_OF + "info", log.of(Level.INFO));
    tree.counter("couch_log/level/debug", LINES_OF + "debug", log.of(Level.DEBUG));
  }

  private void addRequests(StatTree tree, RequestMetrics requests) {
    Map<Integer, Long> byStatus = requests.byStatus();
    long all = byStatus.values().stream().mapToLong(Long::longValue).sum();
    tree.counter("couchdb/httpd/requests", "number of HTTP requests", all);
    tree.counter(
        "couchdb/httpd/bulk_requests",
        "number of bulk requests",
        requests.ofRoute(RouteTemplate.of(List.of("db", "_bulk_docs"))));
    tree.counter(
        "couchdb/httpd/purge_requests",
        "number of purge requests",
        requests.ofRoute(RouteTemplate.of(List.of("db", "_purge"))));
    tree.counter(
        "couchdb/httpd/view_reads",
        "number of queries of views",
        requests.ofRoute(RouteTemplate.VIEW));
    tree.counter(
        "couchdb/httpd/aborted_requests",
        "number of requests whose clients left",
        byStatus.getOrDefault(CLIENT_LEFT, 0L));
    tree.counter(
        "couchdb/httpd/clients_requesting_changes",
        "number of live feeds and subscriptions now",
        figures.deliveries().listeners());
    for (String method : METHODS) {
      tree.counter(
          "couchdb/httpd_request_methods/" + method,
          "number of HTTP " + method + " requests",
          requests.ofMethod(method));
    }
    for (int status : STATUSES) {
      tree.counter(
          "couchdb/httpd_status_codes/" + status,
          "number of HTTP " + status + " responses",
          byStatus.getOrDefault(status, 0L));
    }
  }

  private static void addQueries(StatTree tree, QueryMetrics queries) {
    tree.counter("mango/docs_examined", "number of documents read", queries.sum(Count.DOCUMENTS));
    tree.counter(
        "mango/quorum_docs_examined",
        "number of documents read with r above 1",
        queries.sum(Count.QUORUM_DOCUMENTS));
    tree.counter("mango/results_returned", "number of documents found", queries.sum(Count.RESULTS));
    tree.counter(
        "mango/evaluate_selector", "number of documents compared", queries.sum(Count.EVALUATIONS));
    tree.counter(
        "mango/unindexed_queries", "number without an index", queries.sum(Count.UNINDEXED));
    tree.counter(
        "mango/query_invalid_index",
        "number that could not use the index they named",
        queries.sum(Count.OTHER_INDEX));
    tree.counter(
        "mango/too_many_docs_scanned",
        "number that read many documents for each result",
        queries.sum(Count.WASTEFUL));
    tree.histogram("mango/query_time", "length of a query in milliseconds", queries.times());
  }

  private static long openFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getOpenFileDescriptorCount()
        : 0;
  }

  /**
   * ServerStatistics of parts of CouchDB that Lectus does not have. They are 0, as they are in a
   * CouchDB that does not use these parts, because exporters read them.
   */
  private static final class AbsentStatistics {
    private static final List<String> DESIGN_CACHE =
        List.of("ddoc_cache/hit", "ddoc_cache/miss", "ddoc_cache/recovery");

    private static final List<String> FABRIC =
        List.of(
            """
            fabric/worker/timeout fabric/open_shard/timeout fabric/read_repairs/success
            fabric/read_repairs/failure fabric/doc_update/errors
            fabric/doc_update/mismatched_errors fabric/doc_update/write_quorum_errors
            """
                .split("\\s+"));

    private static final List<String> REPLICATOR =
        List.of(
            """
            changes_read_failures changes_reader_deaths changes_manager_deaths
            changes_queue_deaths checkpoints/success checkpoints/failure failed_starts requests
            responses/success responses/failure stream_responses/success stream_responses/failure
            worker_deaths workers_started cluster_is_stable db_scans docs/dbs_created
            docs/dbs_deleted docs/dbs_found docs/db_changes docs/failed_state_updates
            docs/completed_state_updates jobs/adds jobs/duplicate_adds jobs/removes jobs/starts
            jobs/stops jobs/crashes jobs/running jobs/pending jobs/crashed jobs/total
            connection/acquires connection/creates connection/releases connection/owner_crashes
            connection/worker_crashes connection/closes
            """
                .split("\\s+"));

    private AbsentStatistics() {}

    static void addTo(StatTree tree) {
      tree.counter("couchdb/httpd/temporary_view_reads", "Lectus has no temporary views", 0);
      DESIGN_CACHE.forEach(path -> tree.counter(path, "Lectus keeps no design documents", 0));
      FABRIC.forEach(path -> tree.counter(path, "Lectus has no shards on other servers", 0));
      REPLICATOR.forEach(
          name -> tree.counter("couch_replicator/" + name, "Lectus does not count them", 0));
    }
  }
}
