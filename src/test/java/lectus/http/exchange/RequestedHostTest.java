package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.IpLiteral;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The names by which a server may be addressed, so that no web page can pretend to be its own. */
final class RequestedHostTest {
  private static final String INVALID = "{\"error\":\"bad_request\",\"reason\":\"invalid host\"}\n";

  private static final String UPGRADE =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
          + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n";

  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer server;
  private static LectusServer elsewhere;

  @BeforeAll
  static void start() {
    HostSettings named = HostSettings.named(List.of("db.example", "[2001:DB8::1]"));
    server = LectusServer.start(stores.fresh(), new TestSettings().hosts(named));
    elsewhere = LectusServer.start(stores.fresh());
    ask(server, "PUT /w HTTP/1.1\r\nHost: localhost\r\n").expect(201);
  }

  @AfterAll
  static void stop() {
    server.close();
    elsewhere.close();
  }

  /**
   * @param head without the empty line that ends it
   */
  private static Answer ask(LectusServer server, String head) {
    try (Connection connection = server.connect()) {
      return connection.write(head + "\r\n").read(false);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "LocalHost:5984",
        "app.localhost:80",
        "127.0.0.1",
        "127.0.0.1:6000",
        "127.255.0.3",
        "[::1]",
        "[::1]:5984",
        "db.example",
        "DB.example:443",
        "[2001:db8::1]:80"
      })
  void its_own_names_are_served(String host) {
    ask(server, "GET /w HTTP/1.1\r\nHost: " + host + "\r\n").expect(200);
    ask(server, "GET /_changes HTTP/1.1\r\nHost: " + host + "\r\n" + UPGRADE).expect(101);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "evil.example:5984",
        "localhost.evil.example",
        "evillocalhost",
        ".localhost",
        "127.0.0.1.evil.example",
        "128.0.0.1",
        "127.0.0.1234",
        "192.168.0.2",
        "[::2]",
        "::1",
        "localhost:port",
        "localhost:80:80",
        "user@localhost",
        "localhost, evil.example",
        "localhost/",
        ""
      })
  void all_others_are_refused_before_anything_is_read_or_written(String host) {
    String header = "Host: " + host + "\r\n";
    assertThat(ask(server, "GET /w HTTP/1.1\r\n" + header)).satisfies(RequestedHostTest::isRefused);
    assertThat(ask(server, "GET /nodb HTTP/1.1\r\n" + header))
        .satisfies(RequestedHostTest::isRefused);
    assertThat(ask(server, "GET /% HTTP/1.0\r\n" + header)).satisfies(RequestedHostTest::isRefused);
    assertThat(ask(server, "PUT /evil HTTP/1.1\r\n" + header))
        .satisfies(RequestedHostTest::isRefused);
    ask(server, "GET /evil HTTP/1.1\r\nHost: localhost\r\n").expect(404);
    String page = "Origin: http://" + host + "\r\n";
    assertThat(ask(server, "GET /_changes HTTP/1.1\r\n" + header + page + UPGRADE))
        .satisfies(RequestedHostTest::isRefused);
  }

  private static void isRefused(Answer answer) {
    answer.expect(400, INVALID);
  }

  /** Probes of containers ask for the address of the pod. */
  @ParameterizedTest
  @CsvSource({
    "10.0.0.7,10.0.0.7,true",
    "10.0.0.8,10.0.0.7,false",
    "[fd00::7],fd00::7,true",
    "[fd00:0::7],fd00::7,true",
    "[fd00::8],fd00::7,false",
    "seven.example,10.0.0.7,false",
    "10.0.0.7,,false",
    "seven.example,,false"
  })
  void the_address_that_a_client_is_connected_to_is_served(
      String asked, String own, boolean isServed) {
    HostSettings hosts = HostSettings.named(List.of("db.example"));

    assertThat(hosts.serve(asked, () -> Optional.ofNullable(own).flatMap(IpLiteral::parse)))
        .isEqualTo(isServed);
  }

  @Test
  void there_is_one_host() {
    for (LectusServer any : List.of(server, elsewhere)) {
      isRefused(ask(any, "GET / HTTP/1.1\r\n"));
      isRefused(ask(any, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n"));
      isRefused(ask(any, "GET / HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n"));
      isRefused(ask(any, "GET / HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n"));
      isRefused(ask(any, "GET / HTTP/1.1\r\nHost: a b\r\n"));
      ask(any, "GET / HTTP/1.0\r\n").expect(200);
    }
  }

  @Test
  void without_names_every_one_does() {
    ask(elsewhere, "GET / HTTP/1.1\r\nHost: db.example:80\r\n").expect(200);
    ask(elsewhere, "GET / HTTP/1.1\r\nHost:\r\n").expect(200);
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost:80/w,localhost,200",
    "http://localhost,localhost,200",
    "http://evil.example/w,localhost,400",
    "http://localhost/w,evil.example,400",
    "http://evil.example?/w,localhost,400"
  })
  void a_target_in_absolute_form_has_a_host_too(String target, String host, int status) {
    ask(server, "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n").expect(status);
  }

  @ParameterizedTest
  @CsvSource({"localhost,200", "db.example,200", "evil.example,400"})
  void http2_names_the_host_as_authority(String authority, int status) throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      HttpClientOptions options =
          new HttpClientOptions()
              .setProtocolVersion(HttpVersion.HTTP_2)
              .setHttp2ClearTextUpgrade(false);
      // Vert.x closes a client that nobody holds.
      HttpClient client = vertx.createHttpClient(options);
      Future<HttpClientResponse> answer =
          client
              .request(HttpMethod.GET, server.port(), "127.0.0.1", "/w")
              .map(request -> request.authority(HostAndPort.create(authority, server.port())))
              .compose(HttpClientRequest::send);
      assertThat(answer.await(30, TimeUnit.SECONDS).statusCode()).isEqualTo(status);
      client.close().await(30, TimeUnit.SECONDS);
    } finally {
      vertx.close().await(30, TimeUnit.SECONDS);
    }
  }
}
