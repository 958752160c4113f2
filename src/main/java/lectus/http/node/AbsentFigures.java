package lectus.http.node;

import java.util.List;

/**
 * Figures of parts of CouchDB that Lectus does not have. They are 0, as they are in a CouchDB that
 * does not use these parts, because exporters read them.
 */
final class AbsentFigures {
  private static final List<String> VIEWS =
      List.of("couchdb/httpd/temporary_view_reads", "couchdb/httpd/view_reads");

  private static final List<String> DESIGN_CACHE =
      List.of("ddoc_cache/hit", "ddoc_cache/miss", "ddoc_cache/recovery");

  private static final List<String> FABRIC =
      List.of(
          "fabric/worker/timeout",
          "fabric/open_shard/timeout",
          "fabric/read_repairs/success",
          "fabric/read_repairs/failure",
          "fabric/doc_update/errors",
          "fabric/doc_update/mismatched_errors",
          "fabric/doc_update/write_quorum_errors");

  private static final List<String> REPLICATOR =
      List.of(
          "changes_read_failures",
          "changes_reader_deaths",
          "changes_manager_deaths",
          "changes_queue_deaths",
          "checkpoints/success",
          "checkpoints/failure",
          "failed_starts",
          "requests",
          "responses/success",
          "responses/failure",
          "stream_responses/success",
          "stream_responses/failure",
          "worker_deaths",
          "workers_started",
          "cluster_is_stable",
          "db_scans",
          "docs/dbs_created",
          "docs/dbs_deleted",
          "docs/dbs_found",
          "docs/db_changes",
          "docs/failed_state_updates",
          "docs/completed_state_updates",
          "jobs/adds",
          "jobs/duplicate_adds",
          "jobs/removes",
          "jobs/starts",
          "jobs/stops",
          "jobs/crashes",
          "jobs/running",
          "jobs/pending",
          "jobs/crashed",
          "jobs/total",
          "connection/acquires",
          "connection/creates",
          "connection/releases",
          "connection/owner_crashes",
          "connection/worker_crashes",
          "connection/closes");

  private AbsentFigures() {}

  static void addTo(StatTree tree) {
    VIEWS.forEach(path -> tree.counter(path, "Lectus has no views", 0));
    DESIGN_CACHE.forEach(path -> tree.counter(path, "Lectus keeps no design documents", 0));
    FABRIC.forEach(path -> tree.counter(path, "Lectus has no shards on other servers", 0));
    REPLICATOR.forEach(
        name -> tree.counter("couch_replicator/" + name, "Lectus runs no replications", 0));
  }
}
