package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.config.ListenKeys;
import lectus.deployment.Prometheus.Way;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard and the alerts ask for figures and labels that a running server exports. */
final class GrafanaTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Pattern FIGURE =
      Pattern.compile("\\b(?:lectus|jvm|process|system)_[a-z_]+\\b(?:\\{([^}]*)})?");
  private static final Pattern GROUPS = Pattern.compile("\\bby \\(([^)]*)\\)");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?==~?|!)");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_]+)(?:\\{([^}]*)})? ");

  /** Labels that Prometheus adds. */
  private static final Set<String> OF_PROMETHEUS =
      Set.of("instance", "job", "app_kubernetes_io_name");

  @TempDir private Path folder;

  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

  private static JsonObject dashboard() throws IOException {
    return new JsonObject(Files.readString(Path.of("conf", "grafana", "lectus.json")));
  }

  private static List<JsonObject> panels() throws IOException {
    return dashboard().getJsonArray("panels").stream()
        .map(JsonObject.class::cast)
        .filter(panel -> !panel.getString("type").equals("row"))
        .toList();
  }

  private static List<String> expressions(JsonObject panel) {
    return panel.getJsonArray("targets").stream()
        .map(target -> ((JsonObject) target).getString("expr"))
        .toList();
  }

  private static List<String> expressionsOfAlerts() throws IOException {
    return Yaml.of(Path.of("conf", "alerts.yaml"))
        .at("groups")
        .items()
        .get(0)
        .at("rules")
        .items()
        .stream()
        .map(rule -> rule.at("expr").text())
        .toList();
  }

  /** The labels of each figure, by the name of its samples. */
  private static Map<String, Set<String>> exported(LectusServer server) {
    Map<String, Set<String>> labels = new TreeMap<>();
    String text = server.get("/_node/_local/_prometheus").body();
    for (Matcher sample = SAMPLE.matcher(text); sample.find(); ) {
      Set<String> names = labels.computeIfAbsent(sample.group(1), name -> new TreeSet<>());
      names.addAll(labelsIn(sample.group(2)));
    }
    return labels;
  }

  private static List<String> labelsIn(String text) {
    return text == null
        ? List.of()
        : LABEL.matcher(text).results().map(MatchResult::group).toList();
  }

  /** Gives values to what is exported only after it has happened. */
  private static void use(LectusServer server) {
    server.put("/w");
    server.put("/_replicator");
    server.write("/w/a", "{}");
    server.get("/w/a");
    server.get("/w/_changes?feed=normal");
    System.gc();
    Await.until(
        "there was a collection", () -> exported(server).containsKey("jvm_gc_pause_seconds_sum"));
  }

  @Test
  void all_figures_and_labels_are_exported() throws IOException {
    use(server);
    List<String> expressions = new ArrayList<>(expressionsOfAlerts());
    for (JsonObject panel : panels()) {
      expressions.addAll(expressions(panel));
    }
    Map<String, Set<String>> exported = exported(server);
    assertThat(expressions).hasSizeGreaterThan(40);
    for (String expression : expressions) {
      Set<String> there = new HashSet<>(OF_PROMETHEUS);
      for (Matcher figure = FIGURE.matcher(expression); figure.find(); ) {
        String name = figure.group().replaceAll("\\{.*", "");
        assertThat(exported).as(expression).containsKey(name);
        there.addAll(exported.get(name));
        List<String> wanted = new ArrayList<>(labelsIn(figure.group(1)));
        wanted.removeAll(OF_PROMETHEUS);
        assertThat(exported.get(name)).as(expression).containsAll(wanted);
      }
      for (Matcher groups = GROUPS.matcher(expression); groups.find(); ) {
        assertThat(there).as(expression).contains(groups.group(1).split(", "));
      }
    }
  }

  @Test
  void panels_do_not_overlap_and_have_names_of_their_own() throws IOException {
    Set<List<Integer>> places = new HashSet<>();
    Set<Integer> ids = new HashSet<>();
    for (JsonObject panel : panels()) {
      JsonObject place = panel.getJsonObject("gridPos");
      assertThat(places.add(List.of(place.getInteger("x"), place.getInteger("y")))).isTrue();
      assertThat(ids.add(panel.getInteger("id"))).isTrue();
      assertThat(place.getInteger("x") + place.getInteger("w")).isLessThanOrEqualTo(24);
    }
    assertThat(panels()).extracting(panel -> panel.getString("title")).doesNotHaveDuplicates();
  }

  @Test
  void a_real_prometheus_has_an_answer_for_each_panel() throws IOException {
    try (Prometheus prometheus = Prometheus.start(folder, "groups: []", 1);
        LectusServer read =
            LectusServer.start(
                stores.fresh(),
                new TestSettings().with(ListenKeys.PORT, prometheus.place(Way.REQUESTS)))) {
      use(read);
      for (JsonObject panel : panels()) {
        for (String expression : expressions(panel)) {
          String asked = expression.replace("$instance", ".+").replace("$__rate_interval", "5s");
          Await.until(
              "there is an answer to " + asked,
              () -> {
                read.get("/w/a?revs=true");
                read.post("/w", "{}");
                read.get("/w/_design/d/_show/s").expect(501);
                JsonArray series = prometheus.query(asked);
                return !series.isEmpty();
              });
        }
      }
    }
  }
}
