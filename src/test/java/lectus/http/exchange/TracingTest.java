package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import lectus.config.TracingKeys;
import lectus.http.exchange.RequestTrace.AnsweredRequest;
import lectus.http.exchange.Tracing.TracingMetrics;
import lectus.http.exchange.Tracing.TracingSettings;
import lectus.http.exchange.Tracing.WaitingSpans;
import lectus.http.testing.FreePorts;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.metrics.Metrics;
import lectus.metrics.Metrics.ExpositionFormat;
import lectus.metrics.Stage;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a collector of traces learns of requests, and what that costs. */
final class TracingTest {
  /** Takes spans as OTLP over HTTP, as collectors do. */
  private static final class Collector implements AutoCloseable {
    private final Vertx vertx = Vertx.vertx();
    private final List<byte[]> requests = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private volatile int status = 200;

    Collector() {
      server =
          vertx
              .createHttpServer()
              .requestHandler(request -> request.body().onSuccess(body -> take(request, body)))
              .listen(0, "127.0.0.1")
              .await();
    }

    private void take(HttpServerRequest request, Buffer body) {
      if (!request.path().equals("/v1/traces")) {
        request.response().setStatusCode(404).end();
      } else if (status == 200) {
        requests.add(unzipped(body.getBytes()));
        request.response().putHeader("Content-Type", "application/x-protobuf").end();
      } else if (status > 0) {
        request.response().setStatusCode(status).end();
      }
    }

    private static byte[] unzipped(byte[] body) {
      try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(body))) {
        return in.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * @param next of answers from now on; 0: it never answers
     */
    void answers(int next) {
      status = next;
    }

    String url() {
      return "http://127.0.0.1:" + server.actualPort();
    }

    List<CollectedSpan> spans() {
      return requests.stream().flatMap(it -> CollectedSpan.read(it).stream()).toList();
    }

    /** Whether any text was in what was sent. */
    boolean hasSeen(String text) {
      return requests.stream()
          .anyMatch(it -> new String(it, StandardCharsets.ISO_8859_1).contains(text));
    }

    @Override
    public void close() {
      vertx.close().await();
    }
  }

  /** What a collector of traces learns of requests, and what requests notice of it. */
  @Nested
  class Requests {
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
      assertThat(span("GET /_changes").attributes())
          .containsEntry("http.response.status_code", 101L);
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

  /** What traces cost at most. */
  @Nested
  class Bounds {
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

  @Nested
  class RouteTemplates {
    @ParameterizedTest
    @CsvSource({
      "_all_dbs, /_all_dbs",
      "_node/secret/_stats, /_node",
      "_secret, other",
      "secret, /{db}",
      "_users, /{db}",
      "secret/secret, /{db}/{docid}",
      "_users/org.couchdb.user:secret, /{db}/{docid}",
      "secret/secret/secret.png, /{db}/{docid}/{attachment}",
      "secret/_all_docs, /{db}/_all_docs",
      "secret/_all_docs/queries, /{db}/_all_docs",
      "secret/_design/secret, /{db}/_design",
      "secret/_design/secret/_info, /{db}/_design",
      "secret/_design/secret/_view, /{db}/_design",
      "secret/_design/secret/_view/secret, /{db}/_design/{ddoc}/_view/{view}",
      "secret/_design/secret/_view/secret/queries, /{db}/_design/{ddoc}/_view/{view}",
      "secret/_partition/secret/_design/secret/_view/secret, /{db}/_design/{ddoc}/_view/{view}",
      "secret/_partition/secret/_all_docs, /{db}/_partition",
      "secret/_partition/_design, /{db}/_partition",
      "secret/_local/secret, /{db}/_local",
      "secret/_secret, other",
      "secret/_design%2Fsecret, other",
    })
    void a_path_shows_no_names(String path, String template) {
      assertThat(RouteTemplate.of(Arrays.asList(path.split("/"))).text()).isEqualTo(template);
    }

    @Test
    void the_root_and_what_cannot_be_read_are_routes_too() {
      assertThat(RouteTemplate.of(List.of()).text()).isEqualTo("/");
      assertThat(RouteTemplate.of(List.of("", "")).text()).isEqualTo("/{db}/{docid}");
      assertThat(RouteTemplate.unknown().text()).isEqualTo("other");
    }
  }
}
