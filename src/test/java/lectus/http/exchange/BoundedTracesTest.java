package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.exchange.RequestTrace.AnsweredRequest;
import lectus.http.exchange.Tracing.TracingMetrics;
import lectus.http.exchange.Tracing.TracingSettings;
import lectus.http.exchange.Tracing.WaitingSpans;
import lectus.metrics.Metrics;
import lectus.metrics.Metrics.ExpositionFormat;
import lectus.metrics.Stage;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What traces cost at most. */
final class BoundedTracesTest {
  private static final AnsweredRequest FAILED =
      new AnsweredRequest(Optional.of("GET"), Optional.of("/"), Optional.empty(), "a", 500);

  private final Collector collector = new Collector();
  private final Metrics metrics = new Metrics();
  private Tracing tracing;

  @BeforeEach
  void start() {
    TracingMetrics figures = new TracingMetrics();
    metrics.add(figures);
    tracing =
        new Tracing(
            new TracingSettings(URI.create(collector.url() + "/v1/traces"), "lectus", 1),
            "1",
            figures);
  }

  @AfterEach
  void stop() {
    tracing.close();
    collector.close();
    metrics.close();
  }

  private RequestTrace begin() {
    return tracing.begin(List.of()).orElseThrow();
  }

  private long figure(String name) {
    String text = metrics.text(ExpositionFormat.of("")).toCompletableFuture().join();
    Matcher line = Pattern.compile("(?m)^" + Pattern.quote(name) + " ([0-9.]+)$").matcher(text);
    assertThat(line.find()).isTrue();
    return (long) Double.parseDouble(line.group(1));
  }

  /** What takes longer than a stop waits goes on behind it. */
  private void closeAndSend() {
    tracing.close();
    Await.until("all are sent", () -> figure("lectus_tracing_spans_waiting") == 0);
  }

  @Test
  void spans_that_nobody_takes_are_dropped_beyond_a_limit() {
    collector.answers(0);
    for (int i = 0; i < WaitingSpans.MOST; i++) {
      begin().end(FAILED);
    }
    assertThat(figure("lectus_tracing_spans_waiting")).isEqualTo(WaitingSpans.MOST);
    assertThat(figure("lectus_tracing_spans_dropped_total{reason=\"queue\"}")).isZero();
    begin().end(FAILED);
    begin().end(FAILED);
    assertThat(figure("lectus_tracing_spans_waiting")).isEqualTo(WaitingSpans.MOST);
    assertThat(figure("lectus_tracing_spans_dropped_total{reason=\"queue\"}")).isEqualTo(2);
  }

  @Test
  void all_that_wait_are_sent_in_the_end() {
    for (int i = 0; i < WaitingSpans.MOST; i++) {
      begin().end(FAILED);
    }
    closeAndSend();
    assertThat(collector.spans()).hasSize(WaitingSpans.MOST).allMatch(it -> it.status() == 2);
    assertThat(figure("lectus_tracing_spans_sent_total")).isEqualTo(WaitingSpans.MOST);
  }

  @Test
  void a_request_that_waits_a_thousand_times_has_few_spans_and_says_of_the_others_how_many() {
    RequestTrace trace = begin();
    long now = System.nanoTime();
    for (int i = 0; i < 1_000; i++) {
      trace.times().add(Stage.READ, now + i, now + i + 1);
    }
    trace.times().add(Stage.COMMIT, now + 1_000, now + 1_001);
    trace.times().add(Stage.TRANSACTION, now, now + 1_001);
    trace.end(FAILED);
    closeAndSend();

    List<CollectedSpan> spans = collector.spans();
    assertThat(spans).filteredOn(it -> it.name().equals("read")).hasSize(16);
    assertThat(spans).filteredOn(it -> it.name().equals("commit")).hasSize(1);
    CollectedSpan own = spans.get(0);
    assertThat(own.attributes()).containsEntry("lectus.more_waits", 984L);
    CollectedSpan transaction = spans.get(1);
    assertThat(transaction.parent()).isEqualTo(own.id());
    assertThat(spans.subList(2, spans.size()))
        .hasSize(17)
        .allMatch(it -> it.parent().equals(transaction.id()));
  }
}
