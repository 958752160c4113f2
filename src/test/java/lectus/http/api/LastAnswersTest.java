package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which answer is the last one of its connection, and that a client can read it. */
final class LastAnswersTest {
  /** More than the system takes for a connection before anybody reads. */
  private static final int LONG_BODY = 32 << 20;

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose
  private final LectusServer server =
      LectusServer.start(
          stores.fresh(), new TestSettings().maxRequestBytes(2L * LONG_BODY).maxHeldBytes(1 << 20));

  @BeforeEach
  void create() {
    server.put("/w");
    server.write("/w/a", "{\"v\":1}");
  }

  private Request announcing(String method, String target, int length) {
    return server.request(
        method, target, "Content-Type", "application/json", "Content-Length", "" + length);
  }

  /** What follows would be taken for the body by one reader, and for a request by another. */
  @ParameterizedTest
  @CsvSource({
    "GET,/w,200",
    "GET,/w/a,200",
    "GET,/w/none,404",
    "GET,/w/_all_docs,200",
    "PUT,/w,412",
    "DELETE,/w/a,409",
    "POST,/_all_dbs,405",
    "GET,/%,400"
  })
  void an_answer_before_the_announced_body_is_the_last(String method, String target, int status) {
    try (Connection connection = announcing(method, target, 10).open()) {
      Answer answer = connection.read(false);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
      assertThat(answer.header("connection")).isEqualTo("close");
      connection.write(server.request("PUT", "/smuggled").bytes());
      assertThat(connection.isAtEnd()).isTrue();
    }
    server.get("/smuggled").expect(404);
  }

  @ParameterizedTest
  @CsvSource({"GET,/w", "GET,/w/a", "GET,/w/none", "PUT,/w", "POST,/_all_dbs", "GET,/%"})
  void an_answer_to_a_whole_request_is_not_the_last(String method, String target) {
    byte[] chunked =
        (method
                + ' '
                + target
                + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    try (Connection connection = server.connect()) {
      for (int i = 0; i < 3; i++) {
        connection.write(server.request(method, target).json("{\"x\":1}").bytes());
        assertThat(connection.read(false).header("connection")).isNull();
        connection.write(chunked);
        assertThat(connection.read(false).header("connection")).isNull();
      }
    }
  }

  /**
   * The client reads only when it has written everything, as most do. A connection that is closed
   * meanwhile is reset, and it learns nothing.
   */
  @ParameterizedTest
  @CsvSource({
    "'',413",
    "{},413",
    "none|--b||,400",
  })
  void a_client_reads_the_answer_to_a_body_that_nobody_reads(String parts, int status) {
    boolean isMultipart = !parts.isEmpty();
    String begin = isMultipart ? "--b|Content-Type: application/json||" + parts : "[";
    byte[] body = new byte[LONG_BODY];
    byte[] first = begin.replace("|", "\r\n").getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(first, 0, body, 0, first.length);
    for (int i = 0; i < 3; i++) {
      Request request =
          server.request(
              "PUT",
              "/w/b",
              "Content-Type",
              isMultipart ? "multipart/related; boundary=b" : "application/json",
              "Content-Length",
              "" + body.length);
      try (Connection connection = request.open()) {
        connection.write(body);
        connection.read(false).expect(status);
      }
    }
  }

  /** All that the client knows is true: what was answered is stored, and nothing else was sent. */
  @Test
  void busy_clients_lose_no_write_when_the_server_stops() throws Exception {
    int clients = 8;
    Store busy = stores.fresh();
    LectusServer stopping = LectusServer.start(busy);
    stopping.put("/w");
    AtomicInteger acknowledged = new AtomicInteger();
    AtomicInteger unclear = new AtomicInteger();
    CompletableFuture<?>[] running = new CompletableFuture<?>[clients];
    for (int client = 0; client < clients; client++) {
      String prefix = "/w/c" + client + "-";
      running[client] =
          CompletableFuture.runAsync(() -> writeUntilTold(stopping, prefix, acknowledged, unclear));
    }
    while (acknowledged.get() < 10 * clients) {
      Thread.onSpinWait();
    }
    stopping.close();
    CompletableFuture.allOf(running).join();

    assertThat(unclear).hasValue(0);
    try (LectusServer again = LectusServer.start(busy)) {
      assertThat(again.get("/w").body()).contains("\"doc_count\":" + acknowledged.get() + ",");
    }
  }

  /** The first answer has begun before the stop, so only a later one can be the last. */
  @Test
  void pipelined_requests_that_are_served_during_a_stop_are_answered() {
    Store busy = stores.fresh();
    LectusServer stopping = LectusServer.start(busy);
    stopping.put("/w");
    int writes = 3;
    try (Connection connection = stopping.connect()) {
      StringBuilder requests =
          new StringBuilder(
              "GET /w/_changes?feed=longpoll&since=now&heartbeat=60000 HTTP/1.1\r\n"
                  + "Host: localhost\r\n\r\n");
      for (int i = 0; i < writes; i++) {
        requests.append(
            "PUT /w/p" + i + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
      }
      connection.write(requests.toString());
      Answer feed = connection.readHead();
      CompletableFuture<Void> stopped = CompletableFuture.runAsync(stopping::close);
      connection.readBody(feed, false);
      for (int i = 1; i <= writes; i++) {
        Answer answer = connection.read(false).expect(201);
        assertThat(answer.header("connection")).isEqualTo(i == writes ? "close" : null);
      }
      assertThat(connection.isAtEnd()).isTrue();
      stopped.join();
    }
    try (LectusServer again = LectusServer.start(busy)) {
      assertThat(again.get("/w").body()).contains("\"doc_count\":" + writes + ",");
    }
  }

  /** Opens a new connection when an answer was the last one, until none is taken any more. */
  private static void writeUntilTold(
      LectusServer server, String prefix, AtomicInteger acknowledged, AtomicInteger unclear) {
    for (int number = 0; ; ) {
      try (Connection connection = server.connect()) {
        for (boolean isLast = false; !isLast; number++) {
          connection.write(server.request("PUT", prefix + number).json("{}").bytes());
          unclear.incrementAndGet();
          Answer answer = connection.read(false);
          unclear.decrementAndGet();
          answer.expect(201);
          acknowledged.incrementAndGet();
          isLast = "close".equals(answer.header("connection"));
        }
      } catch (UncheckedIOException ended) {
        return;
      }
    }
  }
}
