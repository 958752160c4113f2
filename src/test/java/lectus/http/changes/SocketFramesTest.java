package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocketFrame;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import lectus.config.WebSocketKeys;
import lectus.http.testing.Connection;
import lectus.http.testing.Frames;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The layer below messages: frames, their limits, pings, and close codes. */
final class SocketFramesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int MAX_MESSAGE_BYTES = 70_000;

  private static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh(), settings());
    server.put("/x");
    server.write("/x/p", "{}");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static SocketClient client() {
    return SocketClient.connect(server, "/_changes", "lectus.changes.v1");
  }

  private static TestSettings settings() {
    return new TestSettings()
        .with(WebSocketKeys.MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES)
        .with(WebSocketKeys.MAX_SUBSCRIPTIONS, 3);
  }

  /** One that gives up clients of which it hears nothing for two seconds. */
  private static LectusServer impatient() {
    return LectusServer.start(stores.fresh(), settings().impatientWithWebSockets());
  }

  /** Returns a socket on which frames are written byte for byte. */
  private static Connection raw() {
    return raw(server);
  }

  private static Connection raw(LectusServer to) {
    Connection connection =
        to.request(
                "GET",
                "/_changes",
                "Connection",
                "Upgrade",
                "Upgrade",
                "websocket",
                "Sec-WebSocket-Version",
                "13",
                "Sec-WebSocket-Key",
                "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol",
                "lectus.changes.v1")
            .open();
    connection.readHead().expect(101);
    return connection;
  }

  /** Returns the code of the next close frame, after which the server ends the connection. */
  private static int closeCode(Connection connection) {
    Connection.Frame frame = connection.frame();
    while (frame.opcode() == Frames.PING) {
      frame = connection.frame();
    }
    assertThat(frame.opcode()).isEqualTo(Frames.CLOSE);
    byte[] payload = frame.payload();
    connection.write(Frames.masked(Frames.CLOSE, true, Arrays.copyOf(payload, 2)));
    assertThat(connection.isAtEnd()).isTrue();
    return (payload[0] & 0xff) << 8 | (payload[1] & 0xff);
  }

  private static int closeCodeAfter(byte[]... frames) {
    try (Connection connection = raw()) {
      for (byte[] frame : frames) {
        connection.write(frame);
      }
      return closeCode(connection);
    }
  }

  /** Returns a message of so many bytes that is answered, because it is unknown. */
  private static String message(int bytes) {
    String head = "{\"type\":\"";
    String tail = "\"}";
    return head + "t".repeat(bytes - head.length() - tail.length()) + tail;
  }

  @Test
  void a_message_may_be_as_long_as_the_limit() {
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame(message(MAX_MESSAGE_BYTES), true));
      assertThat(client.message("error", "error")).isEqualTo("bad_request");
    }
  }

  @Test
  void a_longer_message_is_1009() {
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame(message(MAX_MESSAGE_BYTES + 1), true));
      assertThat(client.closeCode()).isEqualTo(1009);
      assertThat(client.isSilent()).isTrue();
    }
  }

  @Test
  void a_message_in_frames_is_joined_up_to_the_limit() {
    byte[] bytes = message(MAX_MESSAGE_BYTES).getBytes(StandardCharsets.UTF_8);
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame("", false));
      client.send(continuation(bytes, 0, 10_000, false));
      client.send(WebSocketFrame.pingFrame(Buffer.buffer("between")));
      client.send(continuation(bytes, 10_000, bytes.length, true));
      assertThat(client.message("error", "error")).isEqualTo("bad_request");
    }
  }

  @Test
  void a_longer_message_in_frames_is_1009() {
    byte[] bytes = message(MAX_MESSAGE_BYTES + 1).getBytes(StandardCharsets.UTF_8);
    try (SocketClient client = client()) {
      client.send(WebSocketFrame.textFrame(message(10_000), false));
      client.send(continuation(bytes, 10_000, bytes.length, false));
      assertThat(client.closeCode()).isEqualTo(1009);
      assertThat(client.isSilent()).isTrue();
    }
  }

  private static WebSocketFrame continuation(byte[] bytes, int from, int to, boolean last) {
    return WebSocketFrame.continuationFrame(
        Buffer.buffer(Arrays.copyOfRange(bytes, from, to)), last);
  }

  @Test
  void a_binary_message_is_1003() {
    try (SocketClient client = client()) {
      client.sendBinary(new byte[] {1, 2, 3});
      assertThat(client.closeCode()).isEqualTo(1003);
    }
  }

  @Test
  void text_that_is_not_utf_8_is_1007() {
    assertThat(closeCodeAfter(Frames.masked(Frames.TEXT, true, new byte[] {'"', (byte) 0xff, '"'})))
        .isEqualTo(1007);
  }

  @Test
  void a_character_may_lie_in_two_frames() {
    byte[] text = "{\"type\":\"ü\"}".getBytes(StandardCharsets.UTF_8);
    int inside = 10;
    try (Connection connection = raw()) {
      connection.write(Frames.masked(Frames.TEXT, false, Arrays.copyOf(text, inside)));
      connection.write(
          Frames.masked(Frames.CONTINUATION, true, Arrays.copyOfRange(text, inside, text.length)));
      assertThat(new String(connection.frame().payload(), StandardCharsets.UTF_8))
          .contains("\"error\":\"bad_request\"");
    }
  }

  @Test
  void frames_that_are_none_are_1002() {
    byte[] hello = "{}".getBytes(StandardCharsets.UTF_8);
    assertThat(closeCodeAfter(Frames.unmasked(Frames.TEXT, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.frame(0xc0 | Frames.TEXT, true, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(3, true, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(11, true, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(Frames.CONTINUATION, true, hello))).isEqualTo(1002);
    assertThat(
            closeCodeAfter(
                Frames.masked(Frames.TEXT, false, hello), Frames.masked(Frames.TEXT, true, hello)))
        .isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(Frames.PING, false, hello))).isEqualTo(1002);
    assertThat(closeCodeAfter(Frames.masked(Frames.PING, true, new byte[126]))).isEqualTo(1002);
  }

  @Test
  void a_goodbye_is_answered_in_kind() {
    assertThat(closeCodeAfter(Frames.masked(Frames.CLOSE, true, new byte[] {0x03, (byte) 0xe8})))
        .isEqualTo(1000);
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 1003, 1007, 1014, 3000, 4999})
  void a_goodbye_with_a_code_that_may_be_sent_has_it_back(int code) {
    assertThat(closeCodeAfter(goodbye(code))).isEqualTo(code);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 15_605, 49_883, 65_535})
  void a_goodbye_with_a_code_that_must_not_be_sent_is_1002(int code) {
    assertThat(closeCodeAfter(goodbye(code))).isEqualTo(1002);
  }

  @Test
  void a_goodbye_of_one_byte_is_1002() {
    assertThat(closeCodeAfter(Frames.masked(Frames.CLOSE, true, new byte[] {3}))).isEqualTo(1002);
  }

  private static byte[] goodbye(int code) {
    byte[] payload = {(byte) (code >>> 8), (byte) code};
    return Frames.masked(Frames.CLOSE, true, payload);
  }

  @Test
  void a_ping_is_answered_with_its_own_words() {
    try (Connection connection = raw()) {
      connection.write(Frames.masked(Frames.PING, true, new byte[] {7, 8, 9}));
      Connection.Frame pong = connection.frame();
      assertThat(pong.opcode()).isEqualTo(Frames.PONG);
      assertThat(pong.payload()).containsExactly(7, 8, 9);
    }
  }

  @Test
  void a_client_that_is_silent_is_given_up() {
    try (LectusServer impatient = impatient();
        Connection connection = raw(impatient)) {
      assertThat(connection.frame().opcode()).isEqualTo(Frames.PING);
      assertThat(closeCode(connection)).isEqualTo(1001);
    }
  }

  @Test
  void a_client_that_answers_pings_stays() {
    try (LectusServer impatient = impatient();
        Connection connection = raw(impatient)) {
      for (int pings = 0; pings < 3; pings++) {
        assertThat(connection.frame().opcode()).isEqualTo(Frames.PING);
        connection.write(Frames.masked(Frames.PONG, true, new byte[0]));
      }
    }
  }

  /** While its answers wait, the client is not read; afterwards it is. */
  @Test
  void a_client_that_talks_before_it_listens_is_answered_in_order() throws InterruptedException {
    int count = 30_000;
    try (Connection connection = raw()) {
      Thread talking = new Thread(() -> unsubscribe(connection, count));
      talking.start();
      for (int id = 0; id < count; ) {
        Connection.Frame frame = connection.frame();
        if (frame.opcode() == Frames.TEXT) {
          assertThat(new String(frame.payload(), StandardCharsets.UTF_8))
              .startsWith("{\"type\":\"error\",\"id\":\"" + id++ + "\",\"error\":\"not_found\"");
        }
      }
      talking.join();
    }
  }

  private static void unsubscribe(Connection connection, int count) {
    for (int id = 0; id < count; id++) {
      connection.write(Frames.text("{\"type\":\"unsubscribe\",\"id\":\"" + id + "\"}"));
    }
  }

  @Test
  void subscriptions_are_limited() {
    try (SocketClient client = client()) {
      for (int i = 0; i < 3; i++) {
        client.send("{\"type\":\"subscribe\",\"id\":\"" + i + "\",\"db\":\"x\",\"credits\":0}");
      }
      client.send("{\"type\":\"subscribe\",\"id\":\"3\",\"db\":\"x\"}");
      assertThat(client.message("error", "error")).isEqualTo("too_many_subscriptions");

      client.send("{\"type\":\"unsubscribe\",\"id\":\"0\"}");
      assertThat(client.message("end", "id")).isEqualTo("0");
      client.send("{\"type\":\"subscribe\",\"id\":\"3\",\"db\":\"x\"}");
      assertThat(client.message("row", "id")).isEqualTo("3");
    }
  }
}
