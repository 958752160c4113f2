package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The limit of connections, of all event loops together. */
final class ConnectionCapTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int MOST = 4;
  private static final String FEED =
      "GET /w/_changes?feed=continuous&heartbeat=60000 HTTP/1.1\r\nHost: localhost\r\n";
  private static final String UPGRADE =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

  private final LectusServer server =
      LectusServer.start(stores.fresh(), new TestSettings().maxConnections(MOST));
  private final List<Connection> connections = new ArrayList<>();

  @AfterEach
  void stop() {
    connections.forEach(Connection::close);
    server.close();
  }

  private Connection connect() {
    Connection connection = server.connect();
    connections.add(connection);
    return connection;
  }

  private static int ask(Connection connection) {
    return connection.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").read(false).status();
  }

  /** Opens a live feed, which is never idle. */
  private Connection listen(String headers) {
    Connection connection = connect().write(FEED + headers + "\r\n");
    assertThat(connection.readHead().status()).isIn(200, 101);
    return connection;
  }

  @Test
  void the_one_that_has_been_idle_for_longest_makes_room() {
    List<Connection> idle = new ArrayList<>();
    for (int i = 0; i < MOST; i++) {
      idle.add(connect());
      assertThat(ask(idle.get(i))).isEqualTo(200);
    }
    // Now the first one was used last, and the second one is the oldest.
    assertThat(ask(idle.get(0))).isEqualTo(200);

    Connection late = connect();
    assertThat(ask(late)).isEqualTo(200);
    assertThat(idle.get(1).isAtEnd()).isTrue();
    assertThat(ask(idle.get(0))).isEqualTo(200);
    assertThat(ask(idle.get(2))).isEqualTo(200);
    assertThat(ask(idle.get(3))).isEqualTo(200);
    assertThat(ask(late)).isEqualTo(200);
  }

  @Test
  void one_that_says_nothing_is_idle_when_it_had_time_to() {
    List<Connection> silent = new ArrayList<>();
    for (int i = 0; i < MOST; i++) {
      silent.add(connect());
    }
    Await.until("there is room", this::isServed);
    assertThat(silent.get(0).isAtEnd()).isTrue();
  }

  @Test
  void where_none_is_idle_a_new_one_is_refused_until_there_is_room() {
    server.put("/w").expect(201);
    for (int i = 0; i < MOST - 1; i++) {
      listen("");
    }
    Connection socket = listen(UPGRADE);

    try (Connection late = server.connect()) {
      Answer refused =
          late.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").read(false).expect(503);
      assertThat(refused.header("connection")).isEqualTo("close");
      assertThat(refused.header("retry-after")).isEqualTo("1");
      refused.expect(
          "{\"error\":\"service_unavailable\","
              + "\"reason\":\"Too many connections are open.\"}\n");
      assertThat(late.isAtEnd()).isTrue();
    }
    socket.close();
    Await.until("there is room", this::isServed);
  }

  private boolean isServed() {
    try (Connection late = server.connect()) {
      return ask(late) == 200;
    }
  }

  @Test
  void an_upload_that_is_under_way_is_not_idle() {
    server.put("/w").expect(201);
    Connection upload =
        connect().write("PUT /w/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{");
    // Its head has been read when a later answer of each event loop has come.
    for (int i = 0; i < 5 * MOST; i++) {
      try (Connection other = server.connect()) {
        assertThat(ask(other)).isEqualTo(200);
      }
    }
    for (int i = 0; i < 5 * MOST; i++) {
      assertThat(ask(connect())).isEqualTo(200);
    }
    upload.write("}").read(false).expect(201);
  }
}
