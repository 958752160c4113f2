package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The upgrade of a request for {@code /_changes} to a WebSocket, and its failures. */
final class SocketHandshakeTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String KEY = "dGhlIHNhbXBsZSBub25jZQ==";

  private static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh(), new TestSettings().allowing("https://app.example"));
  }

  @AfterAll
  static void stop() {
    server.close();
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
  void the_connection_is_still_good_for_requests_after_a_refusal() {
    try (Connection connection = upgrade("13", KEY, null).open()) {
      connection.read(false).expect(400);
      connection.write(server.request("GET", "/_up").bytes());
      connection.read(false).expect(200);
    }
  }
}
