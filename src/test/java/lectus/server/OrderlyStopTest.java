package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server that stops does not cut off clients in the middle of something. */
final class OrderlyStopTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private final LectusServer server =
      LectusServer.start(store, new TestSettings().maxRequestBytes(32 << 20));

  /** Begins to stop the server, and returns when it accepts no more connections. */
  private CompletableFuture<Void> stop() {
    CompletableFuture<Void> stopped = CompletableFuture.runAsync(server::close);
    while (takesConnections()) {
      Thread.onSpinWait();
    }
    return stopped;
  }

  private boolean takesConnections() {
    try (Connection connection = server.connect()) {
      return true;
    } catch (UncheckedIOException refused) {
      return false;
    }
  }

  @Test
  void a_request_whose_body_is_still_on_its_way_is_answered() {
    server.put("/w");
    String body = "{\"v\":1}";
    try (Connection connection = server.connect()) {
      connection.write(
          "PUT /w/a HTTP/1.1\r\nHost: h\r\nContent-Length: " + body.length() + "\r\n\r\n{");
      // The answer to the second request shows that the server has begun to read the first.
      server.get("/_up");
      CompletableFuture<Void> stopped = stop();
      connection.write(body.substring(1));

      connection.read(false).expect(201);
      stopped.join();
    }
    try (LectusServer again = LectusServer.start(store)) {
      assertThat(again.get("/w/a").body()).contains("\"v\":1");
    }
  }

  /** Opens a connection whose client is slower than the server. */
  private Connection slowConnection() {
    return new Connection(server.port(), 16 << 10);
  }

  /** The server has handed over all of it when the client has its head. */
  @Test
  void an_answer_that_waits_for_its_client_is_sent_whole() {
    server.put("/w");
    String revisions =
        IntStream.range(0, 300_000)
            .mapToObj(i -> String.format("\"1-%032x\"", i))
            .collect(Collectors.joining(","));
    String body = "{\"a\":[" + revisions + "]}";
    try (Connection connection = slowConnection()) {
      connection.write(
          "POST /w/_missing_revs HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
              + "Content-Length: "
              + body.length()
              + "\r\n\r\n"
              + body);
      connection.readHead().expect(200);
      CompletableFuture<Void> stopped = stop();

      assertThat(connection.readToEnd()).isEqualTo("{\"missing_revs\":" + body + "}\n");
      stopped.join();
    }
  }

  @Test
  void an_answer_that_is_being_sent_is_sent_whole() {
    server.put("/w");
    for (int i = 0; i < 200; i++) {
      server.write("/w/d" + i, "{\"v\":\"" + "x".repeat(90_000) + "\"}");
    }
    try (Connection connection = slowConnection()) {
      connection.write("GET /w/_all_docs?include_docs=true HTTP/1.1\r\nHost: h\r\n\r\n");
      connection.readHead().expect(200);
      CompletableFuture<Void> stopped = stop();
      StringBuilder rest = new StringBuilder();
      for (String chunk = connection.chunkText(); !chunk.isEmpty(); ) {
        rest.append(chunk);
        chunk = connection.chunkText();
      }

      assertThat(rest.toString().lines().filter(line -> line.startsWith("{\"id\""))).hasSize(200);
      stopped.join();
    }
  }

  @Test
  void live_feeds_end_with_their_last_sequence() {
    server.put("/w");
    server.write("/w/a", "{}");
    String last = server.get("/w").member("update_seq");
    try (Connection continuous = server.connect();
        Connection longPoll = server.connect()) {
      continuous.write(
          "GET /w/_changes?feed=continuous&since=now&heartbeat=10000 HTTP/1.1\r\nHost: h\r\n\r\n");
      longPoll.write(
          "GET /w/_changes?feed=longpoll&since=now&heartbeat=10000 HTTP/1.1\r\nHost: h\r\n\r\n");
      continuous.readHead();
      longPoll.readHead();
      server.close();

      assertThat(continuous.chunkText())
          .isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}\n");
      assertThat(continuous.chunk()).isEmpty();
      assertThat(longPoll.chunkText()).isEqualTo("{\"results\":[\n");
      assertThat(longPoll.chunkText())
          .isEqualTo("\n],\n\"last_seq\":\"" + last + "\",\"pending\":0}\n");
      assertThat(longPoll.chunk()).isEmpty();
      assertThat(longPoll.isAtEnd()).isTrue();
    }
  }

  @Test
  void writes_that_nobody_waits_for_are_stored() {
    int count = 500;
    server.put("/w");
    try (Connection connection = server.connect()) {
      for (int i = 0; i < count; i++) {
        connection.write(
            "PUT /w/d" + i + "?batch=ok HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}");
      }
      for (int i = 0; i < count; i++) {
        connection.read(false).expect(202);
      }
    }
    server.close();
    try (LectusServer again = LectusServer.start(store)) {
      assertThat(again.get("/w").body()).contains("\"doc_count\":" + count + ",");
    }
  }

  @Test
  void an_idle_connection_is_closed() {
    try (Connection idle = server.connect()) {
      idle.write("GET /_up HTTP/1.1\r\nHost: h\r\n\r\n");
      idle.read(false).expect(200);
      server.close();
      assertThat(idle.isAtEnd()).isTrue();
    }
  }
}
