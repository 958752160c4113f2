package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers of any length to HTTP/1.0, which has no chunks: the end of the connection ends them. */
final class FirstHttpTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh());
    server.put("/w");
    server.put("/w/a", "{}");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "_all_docs",
        "_changes",
        "_changes?feed=longpoll",
        "_changes?feed=continuous&limit=1",
        "_changes?feed=eventsource&limit=1"
      })
  void are_not_chunked_and_end_with_their_connection(String resource) {
    for (String wish : new String[] {"", "Connection: keep-alive\r\n"}) {
      try (Connection connection = server.connect()) {
        connection.write("GET /w/" + resource + " HTTP/1.0\r\nHost: localhost\r\n" + wish + "\r\n");

        Answer head = connection.readHead().expect(200);
        assertThat(head.isChunked()).isFalse();
        assertThat(head.header("connection")).isIn(null, "close");
        assertThat(connection.readToEnd()).contains("\"id\":\"a\"");
      }
    }
  }

  /** The end of the answer is still in memory when the connection is told to close. */
  @Test
  void a_slow_client_gets_all_of_it() {
    server.put("/large");
    for (int i = 0; i < 60; i++) {
      server.write("/large/d" + i, "{\"v\":\"" + "x".repeat(100_000) + "\"}");
    }
    try (Connection slow = new Connection(server.port(), 16 << 10)) {
      slow.write("GET /large/_all_docs?include_docs=true HTTP/1.0\r\nHost: localhost\r\n\r\n");
      slow.readHead().expect(200);

      assertThat(slow.readToEnd()).hasSizeGreaterThan(60 * 100_000).endsWith("]}\n");
    }
  }
}
