package lectus.http.node;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import lectus.json.JsonBuffer;
import lectus.measure.Spread;

/** Figures at paths, as JSON, in the form of CouchDB's {@code _stats}. */
final class StatTree {
  private final Map<String, StatTree> below = new TreeMap<>();
  private String leaf = "";

  /**
   * @param path names with slashes between them
   */
  StatTree counter(String path, String meaning, long value) {
    return put(path, "counter", meaning, Long.toString(value));
  }

  StatTree histogram(String path, String meaning, Spread.State state) {
    return put(path, "histogram", meaning, HistogramJson.of(state));
  }

  private StatTree put(String path, String type, String meaning, String value) {
    StatTree place = this;
    for (String name : path.split("/")) {
      place = place.below.computeIfAbsent(name, absent -> new StatTree());
    }
    JsonBuffer json = new JsonBuffer(256).ascii("{\"value\":").ascii(value);
    json.ascii(",\"type\":").string(type).ascii(",\"desc\":").string(meaning).octet('}');
    place.leaf = json.toString();
    return this;
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
    if (!leaf.isEmpty()) {
      json.ascii(leaf);
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
}
