package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.server.connection.ConnectionGate.HeadClock;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Heads of requests that are never finished. */
final class HeadClockTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n";

  @AutoClose
  private final LectusServer server =
      LectusServer.start(stores.fresh(), new TestSettings().headSeconds(3));

  private static void assertTooSlow(Connection client) {
    Answer answer = client.read(false).expect(408);
    assertThat(answer.header("connection")).isEqualTo("close");
    assertThat(answer.member("error")).isEqualTo("request_timeout");
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void nothing_waits_for_a_connection_that_is_closed() {
    EmbeddedChannel channel = new EmbeddedChannel(new HeadClock(3_600));
    assertThat(channel.runScheduledPendingTasks()).isPositive();

    channel.close();

    assertThat(channel.runScheduledPendingTasks()).isEqualTo(-1);
  }

  @Test
  void a_client_that_begins_and_does_not_end_is_408() {
    try (Connection client = server.connect()) {
      assertTooSlow(client.write(REQUEST));
    }
  }

  @Test
  void so_is_one_whose_second_request_does_not_end() {
    try (Connection client = server.connect()) {
      client.write(REQUEST + "\r\n").read(false).expect(200);
      assertTooSlow(client.write(REQUEST));
    }
  }

  @Test
  void what_is_left_of_the_body_of_an_answered_request_is_no_head() {
    try (Connection client = server.connect()) {
      client.write("PUT /BAD/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n1");
      assertThat(client.read(false).status()).isBetween(400, 404);
      client.write("23");
      assertThat(client.readToEnd()).isEmpty();
    }
  }

  /** HTTP/1.1 text between its frames would not be a frame. */
  @Test
  void one_that_speaks_http_2_and_asks_for_nothing_is_closed_without_text() {
    try (Connection client = server.connect()) {
      client.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      client.write(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
      assertThat(client.readToEnd()).doesNotContain("408");
    }
  }

  @Test
  void one_that_says_nothing_is_closed_without_a_word() {
    try (Connection client = server.connect()) {
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @Test
  void between_requests_and_while_one_runs_there_is_time() {
    server.put("/w").expect(201);
    try (Connection resting = server.connect();
        Connection listening = server.connect();
        Connection socket = server.connect()) {
      resting.write(REQUEST + "\r\n").read(false).expect(200);
      String feed = "GET /w/_changes?feed=continuous HTTP/1.1\r\nHost: localhost\r\n";
      listening.write(feed + "\r\n").readHead().expect(200);
      socket.write(
          feed
              + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      socket.readHead().expect(101);
      for (int seconds = 0; seconds < 2; seconds++) {
        one_that_says_nothing_is_closed_without_a_word();
      }

      server.write("/w/a", "{}");
      resting.write(REQUEST + "\r\n").read(false).expect(200);
      assertThat(listening.chunkText()).contains("\"id\":\"a\"");
      assertThat(new String(socket.frame().payload(), StandardCharsets.UTF_8))
          .contains("\"id\":\"a\"");
    }
  }
}
