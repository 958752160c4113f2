package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.config.TracingKeys;
import lectus.http.testing.FreePorts;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a collector of traces learns of requests, and what requests notice of it. */
final class TracingTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";

  private static final String SECRET_USER =
      "{\"name\":\"secretuser\",\"password\":\"secretword\",\"type\":\"user\",\"roles\":[]}";

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final Collector collector = new Collector();

  private TestSettings traced() {
    return new TestSettings().with(TracingKeys.ENDPOINT, collector.url());
  }

  private LectusServer start(TestSettings settings) {
    return LectusServer.start(stores.fresh(), settings);
  }

  /** Returns the only span of a name. */
  private CollectedSpan span(String name) {
    Await.until(name + " is sent", () -> !spans(name).isEmpty());
    return only(spans(name));
  }

  private static CollectedSpan only(List<CollectedSpan> spans) {
    assertThat(spans).hasSize(1);
    return spans.get(0);
  }

  private List<CollectedSpan> below(CollectedSpan parent) {
    return collector.spans().stream().filter(it -> it.parent().equals(parent.id())).toList();
  }

  private Set<String> namesBelow(CollectedSpan parent) {
    return below(parent).stream().map(CollectedSpan::name).collect(Collectors.toSet());
  }

  private CollectedSpan below(CollectedSpan parent, String name) {
    return only(below(parent).stream().filter(it -> it.name().equals(name)).toList());
  }

  private static void assertFigure(LectusServer server, String line) {
    Await.until(line, () -> server.get("/_node/_local/_prometheus").body().contains(line + "\n"));
  }

  @Test
  void a_write_has_spans_for_what_it_waited_for() {
    try (LectusServer server = start(traced().with(TracingKeys.SERVICE_NAME, "store-7"))) {
      server.put("/w");
      server.put("/w/a", "{}").expect(201);
    }
    CollectedSpan write = span("PUT /{db}/{docid}");
    assertThat(write.kind()).isEqualTo(2);
    assertThat(write.parent()).isEmpty();
    assertThat(write.service()).isEqualTo("store-7");
    assertThat(namesBelow(write)).contains("write_queue", "transaction").doesNotContain("commit");
    CollectedSpan commit = below(below(write, "transaction"), "commit");
    assertThat(List.of(below(write, "write_queue"), below(write, "transaction"), commit))
        .allMatch(write::contains)
        .allMatch(it -> it.trace().equals(write.trace()) && it.kind() == 1);
  }

  @Test
  void a_read_has_its_reads_below_its_transaction() {
    try (LectusServer server = start(traced())) {
      server.put("/w");
      server.write("/w/a", "{}");
      server.get("/w/a?conflicts=true").expect(200);
    }
    CollectedSpan read = span("GET /{db}/{docid}");
    CollectedSpan transaction = below(read, "transaction");
    assertThat(namesBelow(read)).contains("turn").doesNotContain("read", "write_queue");
    assertThat(namesBelow(transaction)).containsExactly("read");
    assertThat(below(transaction)).allMatch(transaction::contains);
  }

  @Test
  void a_span_names_the_database_and_neither_document_nor_query_nor_user() {
    try (LectusServer server = start(traced())) {
      server.put("/w");
      server.put("/w/_security", "{}");
      server.put("/_users");
      server.write("/_users/org.couchdb.user:secretuser", SECRET_USER);
      server
          .request(
              "GET",
              "/w/secretdoc?rev=1-5ec7e7",
              "X-Couch-Request-ID",
              "abc-1",
              "Authorization",
              "Basic " + base64("secretuser:secretword"))
          .send()
          .expect(404);
    }
    assertThat(span("GET /{db}/{docid}").attributes())
        .isEqualTo(
            Map.of(
                "http.request.method", "GET",
                "http.route", "/{db}/{docid}",
                "http.response.status_code", 404L,
                "db.namespace", "w",
                "lectus.request_id", "abc-1"));
    assertThat(collector.hasSeen("abc-1")).isTrue();
    assertThat(collector.hasSeen("secret")).isFalse();
    assertThat(collector.hasSeen("5ec7e7")).isFalse();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private List<CollectedSpan> spans(String name) {
    return collector.spans().stream().filter(it -> it.name().equals(name)).toList();
  }

  @Test
  void long_names_are_cut_and_unknown_methods_have_no_name() {
    try (LectusServer server = start(traced())) {
      server.get("/" + "d".repeat(2_000));
      server.request("BREW", "/w").send();
      server.get("/_nothing");
    }
    assertThat(span("GET /{db}").attributes()).containsEntry("db.namespace", "d".repeat(256));
    assertThat(span("HTTP /{db}").attributes()).containsEntry("http.request.method", "_OTHER");
    assertThat(span("GET").attributes()).doesNotContainKeys("http.route", "db.namespace");
    assertThat(collector.hasSeen("BREW")).isFalse();
  }

  @Test
  void a_socket_has_a_span_that_ends_when_it_begins() {
    try (LectusServer server = start(traced());
        SocketClient socket = SocketClient.connect(server, "/_changes", "lectus.changes.v1")) {
      Await.until("it is sent", () -> spans("GET /_changes").size() == 1);
      assertThat(socket.protocol()).isEqualTo("lectus.changes.v1");
    }
    assertThat(span("GET /_changes").attributes()).containsEntry("http.response.status_code", 101L);
  }

  @ParameterizedTest
  @ValueSource(strings = {PARENT, "cc-" + TRACE + "-" + SPAN + "-01-what-the-future-brings"})
  void the_span_of_the_client_is_the_parent(String header) {
    try (LectusServer server = start(traced())) {
      server.request("GET", "/_up", "traceparent", header).send();
    }
    assertThat(span("GET /_up").trace()).isEqualTo(TRACE);
    assertThat(span("GET /_up").parent()).isEqualTo(SPAN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-" + TRACE + "-" + SPAN,
        "00-" + TRACE + "-" + SPAN + "-1",
        "00-" + TRACE + "-" + SPAN + "-01-more",
        "00-" + TRACE + "-" + SPAN + "-0g",
        "ff-" + TRACE + "-" + SPAN + "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" + SPAN + "-01",
        "00-00000000000000000000000000000000-" + SPAN + "-01",
        "00-" + TRACE + "-0000000000000000-01",
        "00-" + TRACE + "0-" + SPAN + "-01",
      })
  void a_malformed_header_counts_as_absent(String header) {
    try (LectusServer server = start(traced())) {
      server.request("GET", "/_up", "traceparent", header).send();
    }
    assertThat(span("GET /_up").trace()).isNotEqualTo(TRACE);
    assertThat(span("GET /_up").parent()).isEmpty();
  }

  @Test
  void two_headers_or_a_long_one_count_as_absent() {
    try (LectusServer server = start(traced())) {
      server.request("GET", "/_up", "traceparent", PARENT, "traceparent", PARENT).send();
      String version = "cc-" + TRACE + "-" + SPAN + "-01-";
      server
          .request("GET", "/_up", "traceparent", version + "m".repeat(129 - version.length()))
          .send();
      server
          .request("GET", "/_uuids", "traceparent", version + "m".repeat(128 - version.length()))
          .send();
    }
    assertThat(span("GET /_uuids").parent()).isEqualTo(SPAN);
    assertThat(spans("GET /_up")).hasSize(2).allMatch(it -> it.parent().isEmpty());
  }

  @Test
  void the_client_decides_for_its_own_requests_and_the_ratio_for_others() {
    try (LectusServer server = start(traced().with(TracingKeys.SAMPLE_RATIO, "0"))) {
      server.get("/_up");
      server.request("GET", "/_uuids", "traceparent", PARENT).send();
    }
    assertThat(span("GET /_uuids").trace()).isEqualTo(TRACE);
    assertThat(spans("GET /_up")).isEmpty();
    try (LectusServer server = start(traced())) {
      server.get("/");
      server.request("GET", "/_up", "traceparent", PARENT.replace("-01", "-00")).send();
    }
    assertThat(span("GET /").parent()).isEmpty();
    assertThat(spans("GET /_up")).isEmpty();
  }

  @Test
  void nothing_is_sent_while_it_is_off() {
    try (LectusServer server = start(new TestSettings())) {
      server.request("GET", "/_up", "traceparent", PARENT).send();
      assertFigure(server, "lectus_tracing_spans_sent_total 0.0");
      assertFigure(server, "lectus_tracing_spans_dropped_total{reason=\"collector\"} 0.0");
    }
    assertThat(collector.spans()).isEmpty();
  }

  @Test
  void requests_go_on_while_the_collector_is_down_and_dropped_spans_are_counted()
      throws IOException {
    TestSettings settings =
        new TestSettings().with(TracingKeys.ENDPOINT, "http://127.0.0.1:" + FreePorts.one());
    try (LectusServer server = start(settings)) {
      server.put("/w");
      for (int i = 0; i < 20; i++) {
        server.put("/w/" + i, "{}").expect(201);
      }
      Await.until(
          "dropped spans are counted",
          () ->
              !server
                  .get("/_node/_local/_prometheus")
                  .body()
                  .contains("lectus_tracing_spans_dropped_total{reason=\"collector\"} 0.0\n"));
      assertFigure(server, "lectus_tracing_spans_sent_total 0.0");
      server.get("/w/7").expect(200);
    }
  }

  @Test
  void spans_are_sent_again_once_the_collector_takes_them() {
    collector.answers(400);
    try (LectusServer server = start(traced())) {
      server.get("/_up");
      Await.until(
          "one is refused",
          () ->
              !server
                  .get("/_node/_local/_prometheus")
                  .body()
                  .contains("lectus_tracing_spans_dropped_total{reason=\"collector\"} 0.0\n"));
      collector.answers(200);
      server.get("/_uuids");
      Await.until("one is taken", () -> spans("GET /_uuids").size() == 1);
      assertThat(spans("GET /_up")).isEmpty();
    }
  }
}
