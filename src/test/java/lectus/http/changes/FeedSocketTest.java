package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Frames;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.store.WatchedStore;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /{db}/_changes} as a WebSocket. */
final class FeedSocketTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @RegisterExtension
  static final LectusServer server =
      LectusServer.shared(new TestSettings().allowing("https://app.example"), "/w");

  private static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";

  private SocketClient feed(String query) {
    return SocketClient.connect(server, "/w/_changes?" + query);
  }

  private Request upgrade(String target) {
    return upgrade(server, target);
  }

  private static Request upgrade(LectusServer server, String target) {
    return upgrade(server, "GET", target);
  }

  private static Request upgrade(LectusServer server, String method, String target) {
    return server.request(
        method,
        target,
        "Connection",
        "Upgrade",
        "Upgrade",
        "websocket",
        "Sec-WebSocket-Version",
        "13",
        "Sec-WebSocket-Key",
        "dGhlIHNhbXBsZSBub25jZQ==");
  }

  private static Connection raw(LectusServer server, String target) {
    Connection connection = upgrade(server, target).open();
    connection.readHead().expect(101);
    return connection;
  }

  private String last() {
    return server.get("/w").member("update_seq");
  }

  @Test
  void each_row_is_a_message() {
    String a = server.write("/w/a", "{}");
    String seqA = last();
    try (SocketClient feed = feed("")) {
      assertThat(feed.text())
          .isEqualTo(
              "{\"seq\":\"" + seqA + "\",\"id\":\"a\",\"changes\":[{\"rev\":\"" + a + "\"}]}");
      server.write("/w/b", "{\"v\":\"\u00fc\"}");
      assertThat(feed.text()).contains("\"id\":\"b\"");
    }
  }

  @Test
  void parameters_are_those_of_the_other_feeds() {
    server.write("/w/a", "{}");
    server.write("/w/_design/d", "{\"v\":\"\u00fc\"}");
    try (SocketClient feed =
        feed("since=0&filter=_design&include_docs=true&style=all_docs&limit=1")) {
      assertThat(feed.text()).contains("\"id\":\"_design/d\"").contains("\"v\":\"\u00fc\"}}");
      assertThat(feed.text()).isEqualTo("{\"last_seq\":\"" + last() + "\",\"pending\":0}");
      assertThat(feed.closeCode()).isEqualTo(1000);
    }
    try (SocketClient feed = feed("since=now")) {
      server.write("/w/z", "{}");
      assertThat(feed.text()).contains("\"id\":\"z\"");
    }
  }

  @Test
  void its_end_is_a_last_message_and_1000() {
    server.write("/w/a", "{}");
    server.write("/w/b", "{}");
    try (SocketClient limited = feed("limit=1");
        SocketClient impatient = feed("since=now&timeout=20")) {
      assertThat(limited.text()).contains("\"id\":\"a\"");
      assertThat(limited.text()).endsWith(",\"pending\":1}");
      assertThat(limited.closeCode()).isEqualTo(1000);
      assertThat(impatient.text()).isEqualTo("{\"last_seq\":\"" + last() + "\",\"pending\":0}");
      assertThat(impatient.closeCode()).isEqualTo(1000);
    }
  }

  @Test
  void a_purge_is_no_message_and_a_socket_resumed_from_before_it_goes_on_behind_it() {
    String gone = server.write("/w/gone", "{}");
    String shown = last();
    try (SocketClient feed = feed("since=0")) {
      assertThat(feed.text()).contains("\"id\":\"gone\"");
      server.post("/w/_purge", "{\"gone\":[\"" + gone + "\"]}");
      String purged = last();
      try (SocketClient resumed = feed("timeout=1&since=" + shown)) {
        assertThat(resumed.text()).isEqualTo("{\"last_seq\":\"" + purged + "\",\"pending\":0}");
      }
      try (SocketClient resumed = feed("since=" + shown)) {
        server.write("/w/next", "{}");
        assertThat(feed.text()).contains("\"id\":\"next\"");
        assertThat(resumed.text()).contains("\"id\":\"next\"");
      }
    }
  }

  @Test
  void a_deleted_database_ends_it() {
    server.write("/w/a", "{}");
    String last = last();
    try (SocketClient feed = feed("since=now")) {
      server.delete("/w");
      assertThat(feed.text()).isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}");
      assertThat(feed.closeCode()).isEqualTo(1000);
    }
  }

  @Test
  void a_shard_that_is_replaced_says_who_goes_on() {
    server.write("/w/a", "{}");
    String shard =
        server
            .get("/w/_changes/_meta")
            .body()
            .replaceAll("(?s).*\"shards\":\\[\"([^\"]+)\"].*", "$1");
    String target = "/w/_changes/" + shard;
    try (SocketClient feed = SocketClient.connect(server, target);
        Connection events = server.request("GET", target + "?feed=eventsource&since=now").open()) {
      events.readHead();
      assertThat(feed.text()).contains("\"id\":\"a\"");
      server.put("/w/_changes/_meta", "{\"shards\":2}").expect(202);

      String last = feed.text();
      assertThat(last)
          .matches(
              "\\{\"resharded\":\\{\"seq\":\"[0-9a-f]+\",\"shards\":\\[\"[^\"]+\",\"[^\"]+\"]},"
                  + "\"last_seq\":\"[0-9a-f]+\"}");
      assertThat(feed.closeCode()).isEqualTo(1000);
      assertThat(feed.closeReason()).isEqualTo("The feed has ended.");
      assertThat(events.chunkText()).startsWith("data: " + last + "\nid: \"").endsWith("\"\n\n");
      assertThat(events.chunkText()).isEmpty();
    }
  }

  @Test
  void a_server_that_stops_says_so() {
    LectusServer stopping = LectusServer.start(stores.fresh());
    stopping.put("/w");
    stopping.write("/w/a", "{}");
    String last = stopping.get("/w").member("update_seq");
    try (SocketClient feed = SocketClient.connect(stopping, "/w/_changes")) {
      assertThat(feed.text()).contains("\"id\":\"a\"");
      stopping.close();
      assertThat(feed.text()).isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}");
      assertThat(feed.closeCode()).isEqualTo(1001);
    }
  }

  @Test
  void a_store_that_fails_is_1011_and_another_socket_goes_on() {
    WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
    try (LectusServer failing = LectusServer.start(store.store())) {
      failing.put("/w");
      failing.write("/w/a", "{}");
      String last = failing.get("/w").member("update_seq");
      try (SocketClient feed = SocketClient.connect(failing, "/w/_changes")) {
        assertThat(feed.text()).contains("\"id\":\"a\"");
        store.breakDown(true);
        failing.write("/w/b", "{}");
        assertThat(feed.closeCode()).isEqualTo(1011);
        assertThat(feed.isSilent()).isTrue();
      }
      store.breakDown(false);
      try (SocketClient feed = SocketClient.connect(failing, "/w/_changes?since=" + last)) {
        assertThat(feed.text()).contains("\"id\":\"b\"");
      }
    }
  }

  /** The first transaction opens the feed, the second reads a page. */
  @ParameterizedTest
  @CsvSource({"1510,500,1011", "1007,503,1013"})
  void a_store_that_fails_early_is_an_answer_or_a_close_code(int code, int status, int closeCode) {
    WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
    try (LectusServer failing = LectusServer.start(store.store())) {
      failing.put("/w");
      failing.write("/w/a", "{}");
      store.breakDown(code, 0);
      upgrade(failing, "/w/_changes").send().expect(status);
      store.breakDown(code, 1);
      try (SocketClient feed = SocketClient.connect(failing, "/w/_changes")) {
        assertThat(feed.closeCode()).isEqualTo(closeCode);
        assertThat(feed.isSilent()).isTrue();
      }
    }
  }

  @Test
  void it_takes_no_messages() {
    try (SocketClient text = feed("");
        SocketClient binary = feed("")) {
      assertThat(text.send("{}").closeCode()).isEqualTo(1008);
      assertThat(binary.sendBinary(new byte[] {1}).closeCode()).isEqualTo(1003);
    }
    try (Connection unmasked = raw(server, "/w/_changes")) {
      unmasked.write(Frames.unmasked(Frames.TEXT, new byte[] {'a'}));
      Connection.Frame frame = frame(unmasked);
      assertThat(frame.opcode()).isEqualTo(Frames.CLOSE);
      assertThat(closeCode(frame)).isEqualTo(1002);
    }
  }

  private static Connection.Frame frame(Connection connection) {
    Connection.Frame frame = connection.frame();
    while (frame.opcode() == Frames.PING) {
      frame = connection.frame();
    }
    return frame;
  }

  private static int closeCode(Connection.Frame frame) {
    return (frame.payload()[0] & 0xff) << 8 | (frame.payload()[1] & 0xff);
  }

  @Test
  void a_silent_client_is_pinged_and_given_up() {
    TestSettings settings = new TestSettings().impatientWithWebSockets();
    try (LectusServer impatient = LectusServer.start(stores.fresh(), settings)) {
      impatient.put("/w");
      isGivenUp(impatient);
    }
  }

  private static void isGivenUp(LectusServer impatient) {
    try (Connection silent = raw(impatient, "/w/_changes?heartbeat=50")) {
      assertThat(silent.frame().opcode()).isEqualTo(Frames.PING);
      assertThat(closeCode(frame(silent))).isEqualTo(1001);
    }
  }

  @Test
  void what_is_wrong_with_the_request_is_an_answer() {
    upgrade("/nodb/_changes").send().expect(404);
    upgrade("/w/_changes?since=nonsense").send().expect(400);
    upgrade("/w/_changes?filter=d/f").send().expect(404);
    server
        .request(
            "GET",
            "/w/_changes",
            "Connection",
            "Upgrade",
            "Upgrade",
            "websocket",
            "Sec-WebSocket-Version",
            "12")
        .send()
        .expect(426);
  }

  /** RFC 6455, section 4.1: the method of the request must be GET. */
  @Test
  void a_post_is_no_handshake_whatever_method_it_means() {
    for (String target : List.of("/w/_changes", "/_db_updates", "/_changes")) {
      handshakeByPost(target).json("{}").send().expect(405);
      Answer meant =
          handshakeByPost(target).header("X-HTTP-Method-Override", "GET").send().expect(405);
      assertThat(meant.body()).contains("\"error\":\"method_not_allowed\"");
    }
  }

  private Request handshakeByPost(String target) {
    return upgrade(server, "POST", target).header("Sec-WebSocket-Protocol", "lectus.changes.v1");
  }

  /** Clients come and go; that is not worth a log line. */
  @Test
  void who_leaves_before_the_socket_opens_is_not_spoken_of() {
    try (LogLines log = LogLines.of(LogLines.ROOT)) {
      for (int i = 0; i < 500; i++) {
        upgrade("/w/_changes").open().abort();
      }
      for (int i = 0; i < 20; i++) {
        server.get("/w").expect(200);
      }
      assertThat(log.complaints()).isEmpty();
    }
  }

  @Test
  void the_connection_is_still_good_for_requests_after_a_refusal() {
    try (Connection connection = upgrade("/nodb/_changes").open()) {
      connection.read(false).expect(404);
      connection.write(server.request("GET", "/_up").bytes());
      connection.read(false).expect(200);
    }
  }

  @Test
  void pages_of_other_origins_are_refused() {
    String target = "/w/_changes";
    upgrade(target).header("Origin", "https://evil.example").send().expect(403);
    for (String origin : List.of("https://app.example", "http://host")) {
      try (Connection allowed = upgrade(target).header("Origin", origin).open()) {
        allowed.readHead().expect(101);
      }
    }
  }

  private static Request upgrade() {
    return upgrade("13", KEY, "lectus.changes.v1");
  }

  private static Request upgrade(String version, String key, String protocols) {
    return upgradeTo("WebSocket", version, key, protocols);
  }

  private static Request upgradeTo(String to, String version, String key, String protocols) {
    Request request =
        server.request(
            "GET",
            "/_changes",
            "Connection",
            "keep-alive, Upgrade",
            "Upgrade",
            to,
            "Sec-WebSocket-Version",
            version);
    Request keyed = key == null ? request : request.header("Sec-WebSocket-Key", key);
    return protocols == null ? keyed : keyed.header("Sec-WebSocket-Protocol", protocols);
  }

  private static Answer head(Request request) {
    try (Connection connection = request.open()) {
      return connection.readHead();
    }
  }

  private static void isRefused(Answer answer, int status, String error) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.member("error")).isEqualTo(error);
    assertThat(answer.header("content-type")).isEqualTo("application/json");
  }

  /** RFC 6455, section 1.3, gives the answer to this key. */
  @Test
  void the_connection_becomes_a_websocket_with_the_subprotocol() {
    Answer head = head(upgrade()).expect(101);
    assertThat(head.header("upgrade")).isEqualToIgnoringCase("websocket");
    assertThat(head.header("connection")).isEqualToIgnoringCase("upgrade");
    assertThat(head.header("sec-websocket-accept")).isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assertThat(head.header("sec-websocket-protocol")).isEqualTo("lectus.changes.v1");
  }

  @Test
  void of_several_subprotocols_ours_is_chosen() {
    Answer head = head(upgrade("13", KEY, "other, lectus.changes.v1")).expect(101);
    assertThat(head.header("sec-websocket-protocol")).isEqualTo("lectus.changes.v1");
  }

  /** It would need hundreds of kilobytes for each socket. */
  @Test
  void nothing_is_deflated() {
    Answer head =
        head(upgrade().header("Sec-WebSocket-Extensions", "permessage-deflate")).expect(101);
    assertThat(head.headers()).doesNotContainKey("sec-websocket-extensions");
  }

  @ParameterizedTest
  @ValueSource(strings = {"websocket, h3", "h3, WebSocket", "h3,websocket"})
  void one_of_several_protocols_to_upgrade_to_may_be_websocket(String protocols) {
    Answer head = head(upgradeTo(protocols, "13", KEY, "lectus.changes.v1")).expect(101);
    assertThat(head.header("upgrade")).isEqualToIgnoringCase("websocket");
  }

  @Test
  void connection_may_come_in_several_lines() {
    Request request =
        server.request(
            "GET",
            "/_changes",
            "Connection",
            "keep-alive",
            "Connection",
            "Upgrade",
            "Upgrade",
            "websocket",
            "Sec-WebSocket-Version",
            "13",
            "Sec-WebSocket-Key",
            KEY,
            "Sec-WebSocket-Protocol",
            "lectus.changes.v1");
    head(request).expect(101);
  }

  @Test
  void without_an_upgrade_it_is_426() {
    Answer answer = server.get("/_changes");

    isRefused(answer, 426, "upgrade_required");
    assertThat(answer.header("upgrade")).isEqualTo("websocket");
    assertThat(answer.header("connection")).isEqualTo("Upgrade");
    assertThat(answer.header("sec-websocket-version")).isEqualTo("13");
    assertThat(answer.member("reason")).contains("lectus.changes.v1");
  }

  /** HTTP/2 has neither these fields nor this upgrade. */
  @Test
  void over_http_2_it_is_426_as_well() throws Exception {
    HttpResponse<String> answer =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_2)
            .build()
            .send(
                HttpRequest.newBuilder(URI.create(server.url() + "/_changes")).build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
    assertThat(answer.statusCode()).isEqualTo(426);
    assertThat(answer.body()).contains("\"upgrade_required\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"8", "12", "14", "x"})
  void another_version_of_the_protocol_is_426(String version) {
    Answer answer = upgrade(version, KEY, "lectus.changes.v1").send();

    isRefused(answer, 426, "upgrade_required");
    assertThat(answer.header("sec-websocket-version")).isEqualTo("13");
  }

  @Test
  void an_upgrade_to_something_else_is_426() {
    isRefused(server.request("GET", "/_changes", "Upgrade", "h3").send(), 426, "upgrade_required");
    isRefused(
        server
            .request(
                "GET",
                "/_changes",
                "Upgrade",
                "websocket",
                "Sec-WebSocket-Protocol",
                "lectus.changes.v1")
            .send(),
        426,
        "upgrade_required");
  }

  @Test
  void without_the_subprotocol_it_is_400() {
    isRefused(upgrade("13", KEY, null).send(), 400, "bad_request");
    isRefused(upgrade("13", KEY, "lectus.changes.v2").send(), 400, "bad_request");
  }

  @Test
  void a_key_has_16_bytes() {
    isRefused(upgrade("13", null, "lectus.changes.v1").send(), 400, "bad_request");
    isRefused(upgrade("13", "c2hvcnQ=", "lectus.changes.v1").send(), 400, "bad_request");
    isRefused(upgrade("13", "%%%", "lectus.changes.v1").send(), 400, "bad_request");
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "HEAD"})
  void other_methods_are_405(String method) {
    Answer answer = server.request(method, "/_changes").send().expect(405);
    assertThat(answer.header("allow")).isEqualTo("GET");
  }

  @Test
  void a_page_of_this_server_may() {
    head(upgrade().header("Origin", "http://host")).expect(101);
  }

  @Test
  void a_page_of_an_origin_that_cors_allows_may() {
    head(upgrade().header("Origin", "https://app.example")).expect(101);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://evil.example",
        "http://host:81",
        "http://host.evil.example",
        "null",
        "host",
        "http://app.example"
      })
  void a_page_of_any_other_origin_may_not(String origin) {
    isRefused(upgrade().header("Origin", origin).send(), 403, "forbidden");
  }

  @Test
  void the_connection_is_still_good_for_requests_after_a_malformed_upgrade() {
    try (Connection connection = upgrade("13", KEY, null).open()) {
      connection.read(false).expect(400);
      connection.write(server.request("GET", "/_up").bytes());
      connection.read(false).expect(200);
    }
  }
}
