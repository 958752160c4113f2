package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Invalid HTTP is the client's fault: it gets a 4xx or nothing, and nothing is logged. */
final class MalformedRequestsTest {
  private static final String UPGRADE =
      "Host: localhost\r\n"
          + "Upgrade: websocket\r\n"
          + "Connection: Upgrade\r\n"
          + "Sec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
          + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n";

  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer server;

  /** The server's own configuration separates it from all other loggers. */
  @AutoClose private final LogLines log = LogLines.of(LogLines.ROOT, "lectus.access");

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh());
    server.put("/w");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void nothingWasLogged() {
    assertThat(log.complaints()).isEmpty();
  }

  /**
   * @param text with \r, \n, \t, \0, \e written out
   */
  private static byte[] bytes(String text) {
    return text.replace("\\r", "\r")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\0", "\0")
        .replace("\\e", "\u001b")
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void isRefusedAndCut(Connection connection) {
    Answer answer = connection.read(false);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.header("connection")).isEqualTo("close");
    assertThat(connection.isAtEnd()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "+2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2\\r{}\\r\\n0\\r\\n\\r\\n",
        "2\\r\\n{}0\\r\\n\\r\\n",
        "2\\r\\n{}\\r0\\r\\n\\r\\n",
        ";a\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2g\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2,2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2_0\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "80000000000000000000000000000002\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2\\r\\n{}\\r\\n0\\nX: y\\n\\n",
        "0x2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2\\n{}\\n0\\n\\n",
        "2\\r\\n{}\\n0\\r\\n\\r\\n",
        "2;a\\nb\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2\\r\\n{}more\\r\\n0\\r\\n\\r\\n",
        "80000000\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "ffffffffffffffff\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "10000000000000002\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "2\\r\\n{}\\r\\n0\\r\\nnocolon\\r\\n\\r\\n",
        "2\\r\\n{}\\r\\n0\\r\\nX: \\0\\r\\n\\r\\n",
        "2\\r\\n{}\\r\\n0\\r\\nX : y\\r\\n\\r\\n"
      })
  void a_chunked_body_that_is_none_is_400_and_ends_the_connection(String body) {
    isRefusedAndCut(chunked(bytes(body)));
    server.get("/w/chunked").expect(404);
  }

  private static Connection chunked(byte[] body) {
    return server.connect().write(head("Transfer-Encoding: chunked\r\n")).write(body);
  }

  private static String head(String fields) {
    return "PUT /w/chunked HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + fields
        + "\r\n";
  }

  @Test
  void trailers_and_extensions_of_chunks_are_bounded() {
    String trailer = "2\r\n{}\r\n0\r\nX: " + "y".repeat(20_000) + "\r\n\r\n";
    isRefusedAndCut(chunked(bytes(trailer)));
    isRefusedAndCut(chunked(bytes("2\r\n{}\r\n0\r\n" + "X: y\r\n".repeat(6_000) + "\r\n")));
    isRefusedAndCut(chunked(bytes("2;" + "x".repeat(20_000) + "\r\n{}\r\n0\r\n\r\n")));
    Answer taken = chunked(bytes("2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n")).read(false).expect(201);
    server.delete("/w/chunked?rev=" + taken.member("rev")).expect(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: identity\\r\\nContent-Length: 2",
        "Content-Length: 2\\r\\nTransfer-Encoding: identity",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding:\\r\\n chunked",
        "Transfer-Encoding: chunked\\r\\n , identity",
        "Transfer-Encoding\\t: chunked",
        "Transfer-Encoding: \\e chunked",
        "Transfer-Encoding: chunked\\0",
        "Transfer_Encoding: chunked\\r\\nTransfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\\r\\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity\\r\\nTransfer-Encoding: chunked",
        "Transfer-Encoding:",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: chunked\\r\\nContent-Length: 2",
        "Content-Length: 2\\r\\nTransfer-Encoding: chunked",
        "Content-Length: 2\\r\\nContent-Length: 3",
        "Content-Length: 2\\r\\nContent-Length: 2",
        "Content-Length: 2, 2",
        "Content-Length:",
        "Content-Length: 2 2",
        "Content-Length: 2\\r\\n 0",
        "Content-Length: 2.0",
        "Content-Length: 2\\0",
        "Content-Length: \\e2",
        "Content-Length\\t: 2",
        "Content-Length: -1",
        "Content-Length: +2",
        "Content-Length: 0x2",
        "Content-Length: 2, 3",
        "Content-Length: 99999999999999999999999",
        "Content-Length : 2",
        ": 2"
      })
  void a_request_whose_end_is_not_clear_is_400_and_what_follows_is_not_looked_at(String field) {
    byte[] smuggled = server.request("PUT", "/smuggled").bytes();
    try (Connection connection = server.connect()) {
      connection.write(bytes(head(field + "\\r\\n") + "2\r\n{}\r\n0\r\n\r\n")).write(smuggled);
      isRefusedAndCut(connection);
    }
    server.get("/smuggled").expect(404);
    server.get("/w/chunked").expect(404);
  }

  /** The request and the smuggled one arrive in one piece. */
  @Test
  void not_even_what_came_together_with_it_is_looked_at() {
    String smuggled = "PUT /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    try (Connection connection = server.connect()) {
      connection.write(head("Transfer-Encoding: xchunked\r\n") + smuggled);
      isRefusedAndCut(connection);
    }
    server.get("/smuggled").expect(404);
  }

  /** RFC 9112, sections 5.1 and 6: heads whose end, and what follows them, is clear. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 2\\r\\n\\r\\n{}",
        "Content-Length:2\\r\\n\\r\\n{}",
        "Content-Length: \\t2 \\r\\n\\r\\n{}",
        "Content-Length: 0000002\\r\\n\\r\\n{}",
        "content-length: 2\\r\\n\\r\\n{}",
        "TE: trailers\\r\\nContent-Length: 2\\r\\n\\r\\n{}",
        "X: a\\r\\n folded\\r\\nContent-Length: 2\\r\\n\\r\\n{}",
        "Transfer-Encoding: chunked\\r\\n\\r\\n2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
        "Transfer-Encoding: \\tCHUNKED \\r\\n\\r\\n1\\r\\n{\\r\\n1\\r\\n}\\r\\n0\\r\\n\\r\\n",
        "Transfer-Encoding: chunked\\r\\n\\r\\n000002\\r\\n{}\\r\\n000\\r\\n\\r\\n",
        "Transfer-Encoding: chunked\\r\\n\\r\\n2;a;b=c;d=\"e\"\\r\\n{}\\r\\n0;f\\r\\n\\r\\n",
        "Transfer-Encoding: chunked\\r\\nTrailer: Content-Length\\r\\n\\r\\n"
            + "2\\r\\n{}\\r\\n0\\r\\nContent-Length: 9\\r\\n\\r\\n"
      })
  void a_request_ends_where_its_head_or_its_chunks_say(String request) {
    String line = "PUT /w/chunked HTTP/1.1\r\nHost: localhost\r\n";
    try (Connection connection = server.connect()) {
      connection.write(bytes(line + request)).write("GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n");
      Answer taken = connection.read(false);
      assertThat(taken.status()).as(taken.toString()).isEqualTo(201);
      assertThat(connection.read(false).body()).contains("\"status\":\"ok\"");
      server.delete("/w/chunked?rev=" + taken.member("rev")).expect(200);
    }
  }

  /** RFC 9112, section 6.1: HTTP/1.0 knows no Transfer-Encoding. */
  @ParameterizedTest
  @ValueSource(strings = {"", "Content-Length: 2\\r\\n"})
  void http_1_0_knows_no_transfer_encoding(String field) {
    try (Connection connection = server.connect()) {
      connection
          .write(bytes("PUT /w/chunked HTTP/1.0\r\nHost: h\r\n" + field))
          .write(
              "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
      isRefusedAndCut(connection);
    }
    server.get("/w/chunked").expect(404);
  }

  /** Netty takes eight bytes behind it for a handshake of 2010; any proxy, for a request. */
  @Test
  void a_handshake_of_the_first_drafts_of_websockets_is_400() {
    try (Connection connection = server.connect()) {
      connection.write(
          "GET /w HTTP/1.1\r\nHost: h\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
              + "Sec-WebSocket-Key1: 1 2\r\nSec-WebSocket-Key2: 3 4\r\n\r\n12345678");
      isRefusedAndCut(connection);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /w HTTP/1.1\\nHost: localhost\\n\\n",
        "GET /w HTTP/1.1\\r\\nHost: localhost\\nX: y\\r\\n\\r\\n",
        "GET /w HTTP/1.1\\r\\nHost: localhost\\r\\nX: a\\0b\\r\\n\\r\\n",
        "GET /w HTTP/1.1\\r\\nHost: localhost\\r\\nX: \\e[31m\\r\\n\\r\\n",
        "GET /w HTTP/1.1\\r\\nHost: localhost\\r\\nX: a\\rb\\r\\n\\r\\n",
        "GET /w HTTP/1.1\\r\\nHost: localhost\\r\\nX : a\\r\\n\\r\\n",
        "GET /w HTTP/1.1\\r\\nHost: localhost\\r\\nnocolon\\r\\n\\r\\n",
        "GET /w HTTP/1.1\\r\\n X: folded\\r\\nHost: localhost\\r\\n\\r\\n",
        "GET /w\\r\\nHost: localhost\\r\\n\\r\\n",
        "GET /w x HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
        "G(T /w HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
        "G\\e /w HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
        "\\0\\0garbage\\r\\n\\r\\n"
      })
  void what_is_no_request_is_400_and_ends_the_connection(String request) {
    try (Connection connection = server.connect()) {
      isRefusedAndCut(connection.write(bytes(request)));
    }
    try (Connection connection = server.connect()) {
      connection.write("GET /w HTTP/1.1\r\nHost: localhost\r\n\r\n").write(bytes(request));
      connection.read(false).expect(200);
      isRefusedAndCut(connection);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET w HTTP/1.1,400",
    "GET localhost:80 HTTP/1.1,400",
    "CONNECT localhost:80 HTTP/1.1,400",
    "CONNECT /w HTTP/1.1,405",
    "TRACE /w HTTP/1.1,405",
    "get /w HTTP/1.1,405",
    "OPTIONS * HTTP/1.1,405",
    "GET /% HTTP/1.1,400",
    "GET /w/%zz HTTP/1.1,400",
    "GET /w/%ff%fe HTTP/1.1,404",
    "GET /w/%00 HTTP/1.1,404",
    "GET http://localhost/w HTTP/1.1,200"
  })
  void an_odd_target_or_method_is_answered_and_the_connection_goes_on(String line, int status) {
    try (Connection connection = server.connect()) {
      for (int i = 0; i < 2; i++) {
        connection.write(line + "\r\nHost: localhost\r\n\r\n");
        connection.read(false).expect(status);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/3.7", "HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "http/1.1", "ICE/1.0"})
  void a_request_of_another_version_is_400_and_what_follows_is_not_looked_at(String version) {
    String smuggled = "PUT /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    try (Connection connection = server.connect()) {
      connection.write("GET /w " + version + "\r\nHost: localhost\r\n\r\n" + smuggled);
      isRefusedAndCut(connection);
    }
    server.get("/smuggled").expect(404);
  }

  @Test
  void the_versions_of_http_1_are_served() {
    for (String version : List.of("HTTP/1.0", "HTTP/1.1")) {
      try (Connection connection = server.connect()) {
        connection.write("GET /w " + version + "\r\nHost: localhost\r\n\r\n");
        connection.read(false).expect(200);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"other,417", "'100-continue, other',417", "200-ok,417", "100-Continue,201", "'',201"})
  void nothing_but_to_go_on_can_be_expected(String expectation, int status) {
    try (Connection connection = server.connect()) {
      connection.write(head("Expect: " + expectation + "\r\nContent-Length: 2\r\n"));
      if (expectation.equalsIgnoreCase("100-continue")) {
        connection.readHead().expect(100);
      }
      Answer answer = connection.write("{}").read(false).expect(status);
      if (status == 201) {
        String rev = answer.member("rev");
        server.delete("/w/chunked?rev=" + rev).expect(200);
      } else {
        assertThat(answer.member("error")).isEqualTo("expectation_failed");
      }
    }
  }

  @Test
  void a_client_of_http_1_0_is_not_told_to_go_on() {
    try (Connection connection = server.connect()) {
      connection.write(
          "PUT /w/old HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}");
      connection.readHead().expect(201);
    }
    String rev = server.get("/w/old").member("_rev");
    server.delete("/w/old?rev=" + rev).expect(200);
  }

  @ParameterizedTest
  @CsvSource({
    "GET /_changes?x=\" HTTP/1.1,400",
    "GET /_changes?x=[]{}|^` HTTP/1.1,400",
    "GET /w/_changes?feed=live&x=\" HTTP/1.1,400",
    "GET /_changes HTTP/1.0,400",
    "GET /_changes?x=%22 HTTP/1.1,101"
  })
  void a_socket_has_a_target_that_is_a_uri(String line, int status) {
    try (Connection connection = server.connect()) {
      connection.write(line + "\r\n" + UPGRADE + "\r\n");
      connection.readHead().expect(status);
    }
  }

  @Test
  void a_body_that_is_none_keeps_a_socket_from_being_opened() {
    try (Connection connection = server.connect()) {
      connection.write("GET /_changes HTTP/1.1\r\n" + UPGRADE);
      connection.write("Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n");
      connection.read(false).expect(400);
    }
  }

  @Test
  void clients_may_leave_at_any_time() {
    for (int i = 0; i < 20; i++) {
      try (Connection leaving = server.connect()) {
        leaving.write(head("Content-Length: 10\r\n") + "{");
      }
      try (Connection leaving = server.connect()) {
        leaving.write(head("Transfer-Encoding: chunked\r\n") + "2\r\n{");
      }
      try (Connection leaving = server.connect()) {
        leaving.write("GET /_changes HTTP/1.1\r\n" + UPGRADE + "Content-Length: 5\r\n\r\n12");
      }
      try (Connection leaving = server.connect()) {
        leaving.write("GET /w/_changes?feed=live HTTP/1.1\r\n" + UPGRADE + "\r\n");
      }
      try (Connection leaving = server.connect()) {
        leaving.write(http2(frame(1, 4, 1, put()), frame(0, 0, 1, bytes("{")), reset(8)));
      }
    }
    server.get("/w/chunked").expect(404);
  }

  @Test
  void http2_is_refused_stream_by_stream() {
    byte[] connect = fields(":method", "CONNECT", ":authority", "localhost:80");
    byte[] ok = fields(":method", "GET", ":scheme", "http", ":path", "/_up", ":authority", "a");
    try (Connection connection = server.connect()) {
      connection.write(
          http2(
              frame(1, 5, 1, connect),
              frame(1, 4, 3, put()),
              frame(0, 0, 3, bytes("{")),
              frame(3, 0, 3, ByteBuffer.allocate(4).putInt(8).array()),
              frame(1, 5, 5, ok)));
      assertThat(textUpTo(connection, "\"seeds\"")).contains("\"bad_request\"");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\\0b", "a\\rb", "a\\nb", "\\e[31m"})
  void http2_has_no_control_characters_in_headers_either(String value) {
    String text = new String(bytes(value), StandardCharsets.ISO_8859_1);
    try (Connection connection = server.connect()) {
      connection.write(http2(frame(1, 5, 1, up("x", text)), frame(1, 5, 3, up("x", "a\tb"))));
      assertThat(textUpTo(connection, "\"seeds\"")).contains("control characters");
    }
  }

  private static byte[] up(String name, String value) {
    return fields(
        ":method", "GET", ":scheme", "http", ":path", "/_up", ":authority", "a", name, value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "garbage garbage garbage",
        "\\0\\0\\0\\0\\0\\0\\0\\0\\0",
        "\\0\\0\\0\\4\\1\\0\\0\\0\\0",
        "\\0\\0\\5\\4\\0\\0\\0\\0\\0hello",
        "\\0\\0\\0\\4\\0\\0\\0\\0\\1",
        "\\0\\0\\0\\4\\0\\0\\0\\0\\0garbage garbage garbage"
      })
  void what_comes_behind_the_preface_of_http2_is_http2(String begun) {
    byte[] frames = bytes(begun.replace("\\4", "\4").replace("\\1", "\1").replace("\\5", "\5"));
    byte[] preface = bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    try (Connection whole = server.connect();
        Connection inParts = server.connect()) {
      assertThat(whole.write(preface).write(frames).readToEnd()).doesNotContain("HTTP/1");
      for (byte octet : preface) {
        inParts.write(new byte[] {octet});
      }
      assertThat(inParts.write(frames).readToEnd()).doesNotContain("HTTP/1");
    }
  }

  /** Returns the text of frames up to an awaited one. */
  private static String textUpTo(Connection connection, String last) {
    StringBuilder text = new StringBuilder();
    while (text.indexOf(last) < 0) {
      text.append((char) connection.octet());
    }
    return text.toString();
  }

  private static byte[] put() {
    return fields(
        ":method", "PUT", ":scheme", "http", ":path", "/w/chunked", ":authority", "localhost");
  }

  private static byte[] reset(int code) {
    return frame(3, 0, 1, ByteBuffer.allocate(4).putInt(code).array());
  }

  /** Returns a connection's preface and its frames (RFC 9113, section 3.4). */
  private static byte[] http2(byte[]... frames) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    out.writeBytes(frame(4, 0, 0, new byte[0]));
    List.of(frames).forEach(out::writeBytes);
    return out.toByteArray();
  }

  private static byte[] frame(int type, int flags, int stream, byte[] payload) {
    return ByteBuffer.allocate(9 + payload.length)
        .put((byte) (payload.length >>> 16))
        .putShort((short) payload.length)
        .put((byte) type)
        .put((byte) flags)
        .putInt(stream)
        .put(payload)
        .array();
  }

  /** Returns literal fields without indexing (RFC 7541, section 6.2.2), each under 127 bytes. */
  private static byte[] fields(String... namesAndValues) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < namesAndValues.length; i++) {
      if (i % 2 == 0) {
        out.write(0);
      }
      out.write(namesAndValues[i].length());
      out.writeBytes(bytes(namesAndValues[i]));
    }
    return out.toByteArray();
  }

  @Test
  void no_control_character_reaches_the_access_log() {
    try (LectusServer own = LectusServer.start(stores.fresh());
        Connection http1 = own.connect();
        Connection http2 = own.connect()) {
      http1.write(bytes("GET /w/\\e[31m\\0\u0085 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      http1.read(false).expect(404);
      String path = "/w/\r\n2026-01-01 ERROR all is lost";
      http2.write(
          http2(
              frame(
                  1,
                  5,
                  1,
                  fields(":method", "GET", ":scheme", "http", ":path", path, ":authority", "a"))));
      textUpTo(http2, "\"not_found\"");
    }
    String lines =
        log.events().stream()
            .filter(event -> event.getLoggerName().equals("lectus.access"))
            .map(ILoggingEvent::getFormattedMessage)
            .reduce("", String::concat);
    assertThat(lines).contains(" path=/w/%1B[31m%00%85 db=w status=404 ");
    assertThat(lines)
        .contains(" path=/w/%0D%0A2026-01-01%20ERROR%20all%20is%20lost db=w status=404 ");
    assertThat(lines.lines()).allMatch(line -> line.contains(" access method="));
    assertThat(lines.replace("\n", "").chars()).allMatch(c -> c >= ' ' && c < 0x7f);
  }

  @Test
  void answers_are_what_they_say_they_are() {
    for (String target :
        List.of("/", "/w", "/nodb", "/%", "/w/_all_docs", "/w/_changes", "/_utils")) {
      assertThat(server.get(target).header("x-content-type-options"))
          .as(target)
          .isEqualTo("nosniff");
    }
  }
}
