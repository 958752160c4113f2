package lectus.http.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
    } else {
      json.object(below, tree -> tree.append(json));
    }
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

  /**
   * A spread of times as CouchDB shows histograms, in milliseconds. Only the mean is exact: the
   * rest is told from how many values lay between which bounds, each taken for the upper one.
   */
  static final class HistogramJson {
    private static final double MILLIS = 1_000;
    private static final int[] PERCENTILES = {50, 75, 90, 95, 99, 999};
    private static final double[] SHARES = {0.5, 0.75, 0.9, 0.95, 0.99, 0.999};

    private final double[] bounds;
    private final long[] counts;
    private final long count;
    private final double mean;

    private HistogramJson(Histogram.State state) {
      this.bounds = state.bounds();
      this.counts = state.counts();
      this.count = state.count();
      this.mean = count == 0 ? 0 : state.sum() / count * MILLIS;
    }

    static String of(Histogram.State state) {
      return new HistogramJson(state).json();
    }

    /** Returns the quantiles that CouchDB tells Prometheus, in seconds, by their names. */
    static Map<String, Double> quantiles(Histogram.State state) {
      HistogramJson histogram = new HistogramJson(state);
      Map<String, Double> quantiles = new LinkedHashMap<>();
      for (double share : SHARES) {
        quantiles.put(Double.toString(share), histogram.percentile(share) / MILLIS);
      }
      return quantiles;
    }

    private String json() {
      StringBuilder json = new StringBuilder("{");
      member(json, "min", percentile(0));
      member(json, "max", percentile(1));
      member(json, "arithmetic_mean", mean);
      member(json, "geometric_mean", mean(Math::log, Math::exp));
      member(json, "harmonic_mean", mean(it -> 1 / it, it -> 1 / it));
      member(json, "median", percentile(SHARES[0]));
      member(json, "variance", moment(2));
      member(json, "standard_deviation", Math.sqrt(moment(2)));
      member(json, "skewness", standardized(3));
      member(json, "kurtosis", standardized(4));
      json.append("\"percentile\":[");
      for (int i = 0; i < SHARES.length; i++) {
        json.append(i == 0 ? "[" : ",[").append(PERCENTILES[i]).append(',');
        json.append(number(percentile(SHARES[i]))).append(']');
      }
      json.append("],\"histogram\":[");
      for (int bucket = 0; bucket < counts.length; bucket++) {
        json.append(bucket == 0 ? "[" : ",[").append(number(millis(bucket)));
        json.append(',').append(counts[bucket]).append(']');
      }
      return json.append("],\"n\":").append(count).append('}').toString();
    }

    private static void member(StringBuilder json, String name, double value) {
      json.append('"').append(name).append("\":").append(number(value)).append(',');
    }

    private static String number(double value) {
      return Double.isFinite(value) ? String.format(Locale.ROOT, "%.4f", value) : "0";
    }

    /** Returns a bucket's upper bound; for the last, which has none, the one before. */
    private double millis(int bucket) {
      return bounds[Math.min(bucket, bounds.length - 2)] * MILLIS;
    }

    private double percentile(double share) {
      long wanted = Math.max(1, (long) Math.ceil(share * count));
      long seen = 0;
      for (int bucket = 0; bucket < counts.length; bucket++) {
        seen += counts[bucket];
        if (seen >= wanted) {
          return millis(bucket);
        }
      }
      return 0;
    }

    private interface Change {
      double of(double value);
    }

    private double mean(Change there, Change back) {
      double sum = 0;
      for (int bucket = 0; bucket < counts.length; bucket++) {
        sum += counts[bucket] * there.of(millis(bucket));
      }
      return count == 0 ? 0 : back.of(sum / count);
    }

    private double moment(int power) {
      return mean(it -> Math.pow(it - mean, power), it -> it);
    }

    private double standardized(int power) {
      return moment(2) == 0 ? 0 : moment(power) / Math.pow(Math.sqrt(moment(2)), power);
    }
  }
}
