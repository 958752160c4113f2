package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.metrics.ExpositionFormatTest.Exposition.Family;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a server with something to tell writes for Prometheus keeps to the letter of the formats.
 */
final class ExpositionFormatTest {
  private static final String OPEN = "application/openmetrics-text";

  /** As Prometheus 3 sends it. */
  private static final String OF_PROMETHEUS =
      OPEN
          + ";version=1.0.0;escaping=allow-utf-8;q=0.6,"
          + OPEN
          + ";version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
          + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void use() {
    server.put("/w");
    for (int i = 0; i < 20; i++) {
      server.write("/w/d" + i, "{}");
    }
    server.get("/w/_changes?feed=longpoll");
    server.get("/no/such \"thing\"\\");
  }

  private Answer figures(String accept) {
    return server.request("GET", "/_node/_local/_prometheus", "Accept", accept).send();
  }

  @Test
  void both_formats_have_the_same_figures() {
    Answer text = figures("text/plain");
    assertThat(text.header("content-type")).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
    Map<String, Family> plain = Exposition.text(text.body());
    Answer open = figures(OF_PROMETHEUS);
    assertThat(open.header("content-type"))
        .isEqualTo("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Map<String, Family> openMetrics = Exposition.openMetrics(open.body());

    assertThat(namesAndHelp(openMetrics)).isEqualTo(namesAndHelp(plain));
    assertThat(plain.get("lectus_write_batch_edits").samples()).isNotEmpty();
    assertThat(plain.keySet().stream().filter(name -> name.startsWith("lectus_")))
        .hasSizeGreaterThan(60);
  }

  private static Set<String> namesAndHelp(Map<String, Family> families) {
    // Those of the JVM come when there is something to tell.
    return families.values().stream()
        .filter(it -> it.name().startsWith("lectus_"))
        .map(it -> it.name().replaceFirst("_total$", "") + " " + it.type() + " " + it.help())
        .collect(Collectors.toSet());
  }

  @Test
  void every_figure_says_in_a_sentence_what_it_is() {
    Exposition.text(figures("").body()).values().stream()
        .filter(it -> it.name().startsWith("lectus_"))
        .forEach(it -> assertThat(it.help()).as(it.name()).matches("[A-Z0-9].*[.]"));
  }

  @Test
  void a_scrape_costs_no_figure() {
    Set<String> names = namesAndHelp(Exposition.text(figures("").body()));

    assertThat(namesAndHelp(Exposition.openMetrics(figures(OPEN).body()))).isEqualTo(names);
    assertThat(namesAndHelp(Exposition.text(figures("").body()))).isEqualTo(names);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {OPEN, OPEN + ";version=1.0.0", "text/plain, Application/OpenMetrics-Text"})
  void openmetrics_is_for_whoever_asks_for_it(String accept) {
    assertThat(figures(accept).header("content-type")).startsWith(OPEN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "*/*",
        "text/plain",
        "text/html",
        OPEN + "2",
        OPEN + ";q=0",
        OPEN + ";version=1.0.0;q=0.0",
        ",,;"
      })
  void everybody_else_gets_text(String accept) {
    assertThat(figures(accept).header("content-type")).startsWith("text/plain; version=0.0.4");
  }

  /** The reader of this test is strict. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a 1\n",
        "# TYPE a gauge\n# HELP a b\na 1",
        "# TYPE a gauge\n# HELP a b\n\na 1\n",
        "# TYPE a gauge\n# HELP a b\na{b=\"c\" d=\"e\"} 1\n",
        "# TYPE a gauge\n# HELP a b\na{b=\"\\x\"} 1\n",
        "# TYPE a gauge\n# HELP a b\na 1\na 2\n",
        "# TYPE a counter\n# HELP a b\na 1\n",
        "# TYPE a gauge\na 1\n",
        "# TYPE a histogram\n# HELP a b\na_bucket{le=\"+Inf\"} 1\na_count 2\na_sum 1\n",
        "# TYPE a histogram\n# HELP a b\na_bucket{le=\"1\"} 1\na_count 1\na_sum 1\n",
        "# TYPE a gauge\n# HELP a b\na 1\n# TYPE c gauge\n# HELP c b\nc 1\na{d=\"e\"} 1\n"
      })
  void what_the_format_forbids_is_found(String text) {
    assertThatThrownBy(() -> Exposition.text(text)).isInstanceOf(AssertionError.class);
  }

  /**
   * A strict reader of Prometheus' text format 0.0.4 and of OpenMetrics 1.0.0, written from their
   * specifications. It throws at whatever they do not allow.
   */
  static final class Exposition {
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
}
