package lectus.metrics;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A strict reader of Prometheus' text format 0.0.4 and of OpenMetrics 1.0.0, written from their
 * specifications. It throws at whatever they do not allow.
 */
final class Exposition {
  private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
  private static final Pattern META = Pattern.compile("# (HELP|TYPE|UNIT) (" + NAME + ") (.*)");
  private static final Pattern SAMPLE =
      Pattern.compile(
          "(" + NAME + ")(?:\\{(.*)\\})? (NaN|[+-]Inf|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"");
  private static final Set<String> TYPES =
      Set.of("counter", "gauge", "histogram", "summary", "unknown");

  /** Samples by the whole of their name and labels, as they are written. */
  record Family(String name, String type, String help, Map<String, Double> samples) {}

  private record Sample(String name, Map<String, String> labels, double value) {}

  private final boolean isOpen;
  private final Map<String, Family> families = new LinkedHashMap<>();
  private final Map<String, List<Sample>> histograms = new LinkedHashMap<>();
  private final Set<String> meta = new HashSet<>();
  private String current = "";

  private Exposition(boolean isOpen) {
    this.isOpen = isOpen;
  }

  static Map<String, Family> text(String text) {
    return new Exposition(false).read(text);
  }

  static Map<String, Family> openMetrics(String text) {
    String end = "# EOF\n";
    require(text.endsWith(end), "the end", text.substring(Math.max(0, text.length() - 20)));
    return new Exposition(true).read(text.substring(0, text.length() - end.length()));
  }

  private static void require(boolean holds, String what, String where) {
    if (!holds) {
      throw new AssertionError("Not allowed, " + what + ": " + where);
    }
  }

  private Map<String, Family> read(String text) {
    require(text.endsWith("\n"), "a last line without its end", "");
    for (String line : text.substring(0, text.length() - 1).split("\n", -1)) {
      require(!line.isEmpty() && !line.contains("\r"), "an empty line", line);
      if (line.startsWith("#")) {
        readMeta(line);
      } else {
        readSample(line);
      }
    }
    families.values().forEach(it -> require(!it.type().isEmpty(), "no type", it.name()));
    families.values().forEach(it -> require(!it.help().isEmpty(), "no help", it.name()));
    families.values().forEach(it -> require(!it.samples().isEmpty(), "no samples", it.name()));
    histograms.forEach(Exposition::checkHistogram);
    return families;
  }

  private void readMeta(String line) {
    Matcher matcher = META.matcher(line);
    require(matcher.matches(), "a comment", line);
    String name = matcher.group(2);
    require(meta.add(matcher.group(1) + name), "said twice", line);
    if (!name.equals(current)) {
      require(!families.containsKey(name), "a family in two places", line);
      families.put(name, new Family(name, "", "", new LinkedHashMap<>()));
      current = name;
    }
    Family family = families.get(name);
    require(family.samples().isEmpty(), "a comment after samples", line);
    String rest = matcher.group(3);
    switch (matcher.group(1)) {
      case "TYPE" -> {
        require(TYPES.contains(rest), "a type", line);
        boolean isCouch = name.startsWith("couchdb_");
        require(!isOpen || isCouch || !name.endsWith("_total"), "a family's name", line);
        families.put(name, new Family(name, rest, family.help(), family.samples()));
      }
      case "HELP" -> {
        require(rest.matches("(?:[^\\\\]|\\\\[\\\\n\"])+"), "an escape", line);
        String help = rest.replace("\\\"", "\"");
        families.put(name, new Family(name, family.type(), help, family.samples()));
      }
      default -> require(isOpen && name.endsWith("_" + rest), "a unit", line);
    }
  }

  private void readSample(String line) {
    Matcher matcher = SAMPLE.matcher(line);
    require(matcher.matches(), "a sample", line);
    Sample sample =
        new Sample(matcher.group(1), labels(matcher.group(2), line), value(matcher.group(3)));
    Family family = families.get(current);
    require(family != null, "a sample without a family", line);
    checkName(family, sample, line);
    String key = sample.name() + new TreeMap<>(sample.labels());
    require(family.samples().put(key, sample.value()) == null, "a sample twice", line);
  }

  private void checkName(Family family, Sample sample, String line) {
    switch (family.type()) {
      case "counter" -> {
        String name = isOpen ? family.name() + "_total" : family.name();
        // CouchDB's own names are kept, and some of its counters end otherwise.
        boolean isNamed = name.endsWith("_total") || name.startsWith("couchdb_");
        require(sample.name().equals(name) && isNamed, "a counter's name", line);
        require(sample.value() >= 0, "a negative counter", line);
      }
      case "summary" -> {
        boolean isPart =
            sample.name().equals(family.name() + "_sum")
                || sample.name().equals(family.name() + "_count");
        boolean isQuantile = sample.name().equals(family.name());
        require(
            isQuantile ? sample.labels().containsKey("quantile") : isPart,
            "a summary's name",
            line);
      }
      case "gauge", "unknown" ->
          require(sample.name().equals(family.name()), "a gauge's name", line);
      default -> {
        String suffix = sample.name().substring(family.name().length());
        require(
            sample.name().startsWith(family.name())
                && Set.of("_bucket", "_sum", "_count").contains(suffix),
            "a histogram's name",
            line);
        require(suffix.equals("_bucket") == sample.labels().containsKey("le"), "a bound", line);
        Map<String, String> others = new TreeMap<>(sample.labels());
        others.remove("le");
        histograms.computeIfAbsent(family.name() + others, none -> new ArrayList<>()).add(sample);
      }
    }
  }

  private static double value(String text) {
    return switch (text) {
      case "NaN" -> Double.NaN;
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }

  private static Map<String, String> labels(String text, String line) {
    Map<String, String> labels = new LinkedHashMap<>();
    if (text == null) {
      return labels;
    }
    Matcher matcher = LABEL.matcher(text);
    int at = 0;
    while (at < text.length()) {
      require(matcher.find(at) && matcher.start() == at, "a label", line);
      require(labels.put(matcher.group(1), matcher.group(2)) == null, "a label twice", line);
      at = matcher.end();
      require(at == text.length() || text.charAt(at) == ',', "between labels", line);
      at++;
    }
    return labels;
  }

  /** Bounds rise, counts do not fall, and the infinite bucket has all. */
  private static void checkHistogram(String name, List<Sample> samples) {
    double bound = Double.NEGATIVE_INFINITY;
    double seen = 0;
    double count = -1;
    boolean hasSum = false;
    for (Sample sample : samples) {
      if (sample.name().endsWith("_bucket")) {
        double next = value(sample.labels().get("le"));
        require(next > bound, "bounds that do not rise", name);
        require(sample.value() >= seen, "a bucket with less than the one before", name);
        bound = next;
        seen = sample.value();
      } else if (sample.name().endsWith("_count")) {
        count = sample.value();
      } else {
        hasSum = true;
      }
    }
    require(bound == Double.POSITIVE_INFINITY, "no infinite bucket", name);
    require(count == seen, "a count that is not the last bucket's", name);
    require(hasSum, "no sum", name);
  }
}
