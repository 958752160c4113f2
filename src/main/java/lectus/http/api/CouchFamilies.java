package lectus.http.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.http.api.StatTree.HistogramJson;
import lectus.http.exchange.HttpMetrics;
import lectus.metrics.Metrics.ExpositionFormat;

/**
 * The figures of {@code _stats} and {@code _system} as CouchDB 3.5 writes them for Prometheus, with
 * its names and labels, so that its dashboards and alerts work. Where CouchDB tells of Erlang, the
 * JVM stands for it.
 */
public final class CouchFamilies {
  private static final String PREFIX = "couchdb_";

  /**
   * Metrics that differ in the last name of their path: the family, and the label for that name.
   */
  private static final Map<String, Labelled> LABELLED =
      Map.of(
          "couch_log/level", new Labelled("couch_log_requests_total", "level"),
          "couchdb/httpd_request_methods", new Labelled("httpd_request_methods", "method"),
          "couchdb/httpd_status_codes", new Labelled("httpd_status_codes", "code"));

  /** The families to which a figure adds, where they are not named by its path. */
  private static final Map<String, List<String>> SUMMED =
      Map.ofEntries(
          Map.entry("couchdb/auth_cache_hits", List.of("auth_cache_requests_total")),
          Map.entry(
              "couchdb/auth_cache_misses",
              List.of("auth_cache_requests_total", "auth_cache_misses_total")),
          success("couch_replicator/checkpoints", "couch_replicator_checkpoints_total"),
          failure(
              "couch_replicator/checkpoints",
              "couch_replicator_checkpoints_total",
              "couch_replicator_checkpoints_failure_total"),
          success("couch_replicator/responses", "couch_replicator_responses_total"),
          failure(
              "couch_replicator/responses",
              "couch_replicator_responses_total",
              "couch_replicator_responses_failure_total"),
          success("couch_replicator/stream_responses", "couch_replicator_stream_responses_total"),
          failure(
              "couch_replicator/stream_responses",
              "couch_replicator_stream_responses_total",
              "couch_replicator_stream_responses_failure_total"),
          Map.entry("ddoc_cache/hit", List.of("ddoc_cache_requests_total")),
          Map.entry(
              "ddoc_cache/miss",
              List.of("ddoc_cache_requests_total", "ddoc_cache_requests_failures_total")),
          Map.entry("ddoc_cache/recovery", List.of("ddoc_cache_requests_recovery_total")),
          success("fabric/read_repairs", "fabric_read_repairs_total"),
          failure(
              "fabric/read_repairs",
              "fabric_read_repairs_total",
              "fabric_read_repairs_failures_total"));

  /** Metrics that fall, too. */
  private static final Set<String> LEVELS =
      Set.of(
          "couchdb/open_databases",
          "couchdb/open_os_files",
          "couchdb/httpd/clients_requesting_changes",
          "couch_replicator/cluster_is_stable",
          "couch_replicator/jobs/crashed",
          "couch_replicator/jobs/pending",
          "couch_replicator/jobs/running",
          "couch_replicator/jobs/total");

  private static final String COUNTER = "counter";
  private static final String GAUGE = "gauge";
  private static final String SUMMARY = "summary";
  private static final String TOTAL = "_total";

  private final Map<String, Family> families = new LinkedHashMap<>();

  private CouchFamilies() {}

  private record Labelled(String family, String label) {}

  /** A family with its samples: what follows its name, and the number. */
  private record Family(String type, String meaning, Map<String, Number> samples) {}

  private static Map.Entry<String, List<String>> success(String path, String family) {
    return Map.entry(path + "/success", List.of(family));
  }

  private static Map.Entry<String, List<String>> failure(
      String path, String family, String failures) {
    return Map.entry(path + "/failure", List.of(family, failures));
  }

  /** Writes the families in a format, without an end. */
  public static String text(HttpMetrics figures, ExpositionFormat format) {
    CouchFamilies all = new CouchFamilies();
    new ServerStatistics(figures).tree().forEach(all::add);
    all.addSystem();
    StringBuilder text = new StringBuilder();
    all.families.forEach((name, family) -> append(text, PREFIX + name, family, format));
    return text.toString();
  }

  private void add(String path, StatTree.Stat stat) {
    if (stat instanceof StatTree.Times times) {
      addTimes(nameOf(path) + "_seconds", times);
      return;
    }
    StatTree.Count count = (StatTree.Count) stat;
    int last = path.lastIndexOf('/');
    Labelled labelled = LABELLED.get(path.substring(0, Math.max(0, last)));
    if (labelled != null) {
      String label = '{' + labelled.label() + "=\"" + path.substring(last + 1) + "\"}";
      add(labelled.family(), COUNTER, "number by " + labelled.label(), label, count.value());
    } else if (LEVELS.contains(path)) {
      add(nameOf(path), GAUGE, count.meaning(), "", count.value());
    } else {
      for (String family : SUMMED.getOrDefault(path, List.of(total(nameOf(path))))) {
        add(family, COUNTER, count.meaning(), "", count.value());
      }
    }
  }

  private static String nameOf(String path) {
    String name = path.startsWith("couchdb/") ? path.substring("couchdb/".length()) : path;
    return name.replace('/', '_');
  }

  private static String total(String name) {
    return name.endsWith(TOTAL) ? name : name + TOTAL;
  }

  private void addTimes(String name, StatTree.Times times) {
    HistogramJson.quantiles(times.state())
        .forEach(
            (quantile, seconds) ->
                add(name, SUMMARY, times.meaning(), "{quantile=\"" + quantile + "\"}", seconds));
    add(name, SUMMARY, times.meaning(), "_sum", times.state().sum());
    add(name, SUMMARY, times.meaning(), "_count", times.state().count());
  }

  private void addSystem() {
    add("uptime_seconds", COUNTER, "couchdb uptime", "", ProcessStatistics.uptimeSeconds());
    ProcessStatistics.memory()
        .forEach(
            (type, bytes) ->
                add(
                    "erlang_memory_bytes",
                    GAUGE,
                    "size of memory of the JVM",
                    "{memory_type=\"" + type + "\"}",
                    bytes));
    add(
        "erlang_gc_collections_total",
        COUNTER,
        "number of garbage collections by the JVM",
        "",
        ProcessStatistics.collections());
    add("erlang_processes", GAUGE, "number of threads", "", ProcessStatistics.threads());
    add("internal_replication_jobs", GAUGE, "Lectus has no such jobs", "", 0);
  }

  private void add(String name, String type, String meaning, String sample, Number value) {
    families
        .computeIfAbsent(name, absent -> new Family(type, meaning, new LinkedHashMap<>()))
        .samples()
        .merge(sample, value, CouchFamilies::sum);
  }

  private static Number sum(Number one, Number other) {
    return one.longValue() + other.longValue();
  }

  /** OpenMetrics knows no counter without {@code _total} at its end. */
  private static void append(
      StringBuilder text, String name, Family family, ExpositionFormat format) {
    boolean isOpen = format == ExpositionFormat.OPEN_METRICS;
    boolean isCounter = family.type().equals(COUNTER);
    boolean isTotal = name.endsWith(TOTAL) && isCounter;
    String shown = isOpen && isTotal ? name.substring(0, name.length() - TOTAL.length()) : name;
    String type = isOpen && isCounter && !isTotal ? "unknown" : family.type();
    text.append("# TYPE ").append(shown).append(' ').append(type).append('\n');
    text.append("# HELP ").append(shown).append(' ').append(family.meaning()).append('\n');
    family
        .samples()
        .forEach(
            (sample, value) ->
                text.append(name).append(sample).append(' ').append(value).append('\n'));
  }
}
