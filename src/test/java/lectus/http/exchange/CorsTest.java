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
import lectus.config.CorsKeys;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.IpLiteral;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The web pages that may use the server. */
final class CorsTest {
  private static final String APP = "https://app.example";

  @RegisterExtension static final TestStores stores = new TestStores();

  private static LectusServer serverFor(boolean credentials, String... origins) {
    CorsSettings cors =
        new CorsSettings(
            true,
            List.of(origins),
            credentials,
            List.of("GET", "PUT"),
            List.of("content-type"),
            600);
    return LectusServer.start(stores.fresh(), new TestSettings().cors(cors));
  }

  private static Request preflight(LectusServer server, String origin, String method) {
    return server.request(
        "OPTIONS", "/_all_dbs", "Origin", origin, "Access-Control-Request-Method", method);
  }

  @Test
  void off_unless_an_origin_is_allowed() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      Answer answer = server.request("GET", "/", "Origin", APP).send();
      assertThat(answer.headers()).doesNotContainKey("access-control-allow-origin");
      assertThat(answer.header("vary")).isEqualTo("accept-encoding");
      preflight(server, APP, "PUT").send().expect(405);
    }
  }

  @Test
  void an_allowed_origin_may_read_answers_and_errors() {
    try (LectusServer server = serverFor(false, APP)) {
      for (String target : new String[] {"/", "/nodb", "/_all_dbs"}) {
        Answer answer = server.request("GET", target, "Origin", APP).send();
        assertThat(answer.header("access-control-allow-origin")).isEqualTo(APP);
        assertThat(answer.header("access-control-expose-headers")).contains("etag");
        assertThat(answer.header("vary")).isEqualToIgnoringCase("origin, accept-encoding");
        assertThat(answer.headers()).doesNotContainKey("access-control-allow-credentials");
      }
      Answer other = server.request("GET", "/", "Origin", "https://evil").send().expect(200);
      assertThat(other.headers()).doesNotContainKey("access-control-allow-origin");
      assertThat(server.get("/").headers()).doesNotContainKey("access-control-allow-origin");
    }
  }

  @Test
  void a_preflight_is_granted_for_known_methods_and_headers() {
    try (LectusServer server = serverFor(true, APP)) {
      Answer granted =
          preflight(server, APP, "PUT")
              .header("Access-Control-Request-Headers", "Content-Type")
              .send()
              .expect(204);
      assertThat(granted.headers()).doesNotContainKey("content-length");
      assertThat(granted.header("access-control-allow-origin")).isEqualTo(APP);
      assertThat(granted.header("access-control-allow-methods")).isEqualTo("GET, PUT");
      assertThat(granted.header("access-control-allow-headers")).isEqualTo("Content-Type");
      assertThat(granted.header("access-control-max-age")).isEqualTo("600");
      assertThat(granted.header("access-control-allow-credentials")).isEqualTo("true");
      preflight(server, APP, "DELETE").send().expect(405);
      preflight(server, "https://evil", "PUT").send().expect(405);
      preflight(server, APP, "PUT")
          .header("Access-Control-Request-Headers", "x-evil")
          .send()
          .expect(405);
    }
  }

  @Test
  void a_page_may_log_in() {
    try (LectusServer server = serverFor(true, APP)) {
      server.put("/_users");
      server.put(
          "/_users/org.couchdb.user:jan",
          "{\"name\":\"jan\",\"type\":\"user\",\"roles\":[],\"password\":\"apple\"}");
      Answer session =
          server
              .request("POST", "/_session", "Origin", APP)
              .json("{\"name\":\"jan\",\"password\":\"apple\"}")
              .send()
              .expect(200);
      assertThat(session.header("access-control-allow-origin")).isEqualTo(APP);
      assertThat(session.header("access-control-allow-credentials")).isEqualTo("true");
      assertThat(session.header("set-cookie")).startsWith("AuthSession=");
      Answer again =
          server
              .request("GET", "/_session", "Origin", APP, "Authorization", "Basic amFuOmFwcGxl")
              .send();
      assertThat(again.header("access-control-allow-credentials")).isEqualTo("true");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "https://app.example                | https://app.example | true",
        "HTTPS://App.Example:443,http://b   | https://app.example | true",
        "http://localhost:8000              | http://localhost:8000 | true",
        "*                                  | https://app.example | false",
        "https://app.example, *             | https://app.example | false",
        "null                               | null | false",
        "https://app.example, null          | https://app.example | false"
      })
  void credentials_are_for_named_origins_unless_configured(
      String origins, String origin, boolean credentials) {
    TestSettings settings = new TestSettings().with(CorsKeys.CORS_ORIGINS, origins);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      for (Answer answer :
          List.of(
              server.request("GET", "/", "Origin", origin).send(),
              preflight(server, origin, "PUT").send())) {
        assertThat(answer.header("access-control-allow-origin")).isEqualTo(origin);
        assertThat(answer.headers().containsKey("access-control-allow-credentials"))
            .isEqualTo(credentials);
      }
    }
  }

  @Test
  void stars_allow_all_methods_and_all_headers() {
    TestSettings settings =
        new TestSettings()
            .with(CorsKeys.CORS_ORIGINS, APP)
            .with(CorsKeys.CORS_METHODS, "*")
            .with(CorsKeys.CORS_HEADERS, "*");
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      Answer answer =
          preflight(server, APP, "PATCH")
              .header("Access-Control-Request-Headers", "x-mine, X-Other")
              .send()
              .expect(204);
      assertThat(answer.header("access-control-allow-methods")).isEqualTo("PATCH");
      assertThat(answer.header("access-control-allow-headers")).isEqualTo("x-mine, X-Other");
    }
  }

  @Test
  void a_page_may_ask_for_a_part_and_see_which_it_got() {
    TestSettings settings = new TestSettings().with(CorsKeys.CORS_ORIGINS, APP);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      preflight(server, APP, "GET")
          .header("Access-Control-Request-Headers", "if-range,range")
          .send()
          .expect(204);
      Answer answer = server.request("GET", "/", "Origin", APP).send();
      assertThat(answer.header("access-control-expose-headers")).contains("content-range");
    }
  }

  @Test
  void a_star_allows_all() {
    try (LectusServer server = serverFor(false, "*")) {
      Answer answer = server.request("GET", "/", "Origin", APP).send();
      assertThat(answer.header("access-control-allow-origin")).isEqualTo(APP);
      preflight(server, APP, "GET").send().expect(204);
    }
  }

  /**
   * The names by which a server may be addressed, so that no web page can pretend to be its own.
   */
  @Nested
  class RequestedHosts {
    private static final String INVALID =
        "{\"error\":\"bad_request\",\"reason\":\"invalid host\"}\n";

    private static final String UPGRADE =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n";

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
      assertThat(ask(server, "GET /w HTTP/1.1\r\n" + header)).satisfies(RequestedHosts::isRefused);
      assertThat(ask(server, "GET /nodb HTTP/1.1\r\n" + header))
          .satisfies(RequestedHosts::isRefused);
      assertThat(ask(server, "GET /% HTTP/1.0\r\n" + header)).satisfies(RequestedHosts::isRefused);
      assertThat(ask(server, "PUT /evil HTTP/1.1\r\n" + header))
          .satisfies(RequestedHosts::isRefused);
      ask(server, "GET /evil HTTP/1.1\r\nHost: localhost\r\n").expect(404);
      String page = "Origin: http://" + host + "\r\n";
      assertThat(ask(server, "GET /_changes HTTP/1.1\r\n" + header + page + UPGRADE))
          .satisfies(RequestedHosts::isRefused);
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
}
