package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.metrics.Exposition.Family;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a server with something to tell writes for Prometheus keeps to the letter of the formats.
 */
@Timeout(60)
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

  private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void use() {
    server.put("/w");
    for (int i = 0; i < 20; i++) {
      server.write("/w/d" + i, "{}");
    }
    server.get("/w/_changes?feed=longpoll");
    server.get("/no/such \"thing\"\\");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Answer figures(String accept) {
    return server.request("GET", "/_node/_local/_prometheus").header("Accept", accept).send();
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
}
