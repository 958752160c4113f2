package lectus.http.api;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import lectus.json.JsonBuffer;
import lectus.metrics.Histogram;

/** HttpMetrics at paths, as JSON, in the form of CouchDB's {@code _stats}. */
final class StatTree {
  private final Map<String, StatTree> below = new TreeMap<>();
  private Optional<Stat> leaf = Optional.empty();

  /** One figure. */
  sealed interface Stat {
    String meaning();
  }

  /** A number. */
  record Count(String meaning, long value) implements Stat {}

  /** A spread of times in seconds. */
  record Times(String meaning, Histogram.State state) implements Stat {}

  /**
   * @param path names with slashes between them
   */
  StatTree counter(String path, String meaning, long value) {
    return put(path, new Count(meaning, value));
  }

  StatTree histogram(String path, String meaning, Histogram.State state) {
    return put(path, new Times(meaning, state));
  }

  private StatTree put(String path, Stat stat) {
    StatTree place = this;
    for (String name : path.split("/")) {
      place = place.below.computeIfAbsent(name, absent -> new StatTree());
    }
    place.leaf = Optional.of(stat);
    return this;
  }

  /** Passes on each figure with its path, names with slashes between them. */
  void forEach(BiConsumer<String, Stat> sink) {
    forEach("", sink);
  }

  private void forEach(String path, BiConsumer<String, Stat> sink) {
    leaf.ifPresent(stat -> sink.accept(path, stat));
    below.forEach((name, tree) -> tree.forEach(path.isEmpty() ? name : path + '/' + name, sink));
  }

  /** Appends what lies at a path; null if that is nothing, as in CouchDB. */
  void append(List<String> path, JsonBuffer json) {
    StatTree place = this;
    for (String name : path) {
      place = place == null ? null : place.below.get(name);
    }
    if (place == null) {
      json.ascii("null");
    } else {
      place.append(json);
    }
  }

  private void append(JsonBuffer json) {
    if (leaf.isPresent()) {
      append(leaf.get(), json);
      return;
    }
    String separator = "{";
    for (Map.Entry<String, StatTree> member : below.entrySet()) {
      json.ascii(separator).string(member.getKey()).octet(':');
      member.getValue().append(json);
      separator = ",";
    }
    json.octet('}');
  }

  private static void append(Stat stat, JsonBuffer json) {
    json.ascii("{\"value\":");
    if (stat instanceof Times times) {
      json.ascii(HistogramJson.of(times.state())).ascii(",\"type\":\"histogram\"");
    } else {
      json.ascii(Long.toString(((Count) stat).value())).ascii(",\"type\":\"counter\"");
    }
    json.ascii(",\"desc\":").string(stat.meaning()).octet('}');
  }
}
