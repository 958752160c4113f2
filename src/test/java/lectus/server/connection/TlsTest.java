package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import lectus.config.HttpKeys;
import lectus.config.TlsKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients of a server with TLS get. */
final class TlsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String HEAD = " HTTP/1.1\r\nHost: localhost\r\n";

  @TempDir static Path folder;

  private static TestCertificate certificate;
  private static LectusServer server;

  @BeforeAll
  static void start() {
    certificate = TestCertificate.create(folder, "server", "EC");
    server = LectusServer.start(stores.fresh(), withPem(new TestSettings()).headSeconds(5));
    send(connect(), "PUT /w" + HEAD + "\r\n").expect(201);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static TestSettings withPem(TestSettings settings) {
    return settings
        .with(TlsKeys.CERTIFICATE, certificate.writeCertificate(folder.resolve("server.pem")))
        .with(TlsKeys.KEY, certificate.writeKey(folder.resolve("server.key")));
  }

  private static Connection connect() {
    return connect(server.port(), certificate.trusted());
  }

  private static Connection connect(int port, SSLContext context, String... protocols) {
    return new Connection(socket(port, context, protocols));
  }

  /** A socket after its handshake. */
  private static SSLSocket socket(int port, SSLContext context, String... protocols) {
    try {
      SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
      if (protocols.length > 0) {
        socket.setEnabledProtocols(protocols);
      }
      socket.startHandshake();
      return socket;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static Answer send(Connection connection, String request) {
    try (connection) {
      return connection.write(request).read(false);
    }
  }

  private static HttpClient client() {
    return HttpClient.newBuilder().sslContext(certificate.trusted()).build();
  }

  private static URI uri(String scheme, String path) {
    return URI.create(scheme + "://localhost:" + server.port() + path);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void these_versions_are_spoken(String version) throws IOException {
    try (SSLSocket socket = socket(server.port(), certificate.trusted(), version)) {
      assertThat(socket.getSession().getProtocol()).isEqualTo(version);
      send(new Connection(socket), "GET /" + HEAD + "\r\n").expect(200);
    }
  }

  @Test
  void older_versions_are_refused() {
    byte[] hello = Hellos.ofVersion(3, 2);
    try (Connection old = server.connect().write(hello)) {
      assertThat(old.octet()).as("an alert").isEqualTo(21);
    }
  }

  /** TLS_RSA, TLS_DHE_RSA and TLS_ECDHE_RSA, with AES-128 in GCM. */
  @Test
  void only_ciphers_with_ephemeral_curves_are_taken() {
    TestCertificate rsa = TestCertificate.create(folder, "ciphers", "RSA");
    TestSettings settings =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, rsa.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    try (LectusServer own = LectusServer.start(stores.fresh(), settings)) {
      for (int cipher : new int[] {0x009c, 0x009e, 0xc02f}) {
        try (Connection client = own.connect().write(Hellos.of(3, 3, cipher))) {
          int answer = client.octet();
          assertThat(answer == 22)
              .as("an alert or a handshake: " + answer)
              .isEqualTo(cipher == 0xc02f);
        }
      }
    }
  }

  @Test
  void a_location_is_under_https() {
    Answer answer = send(connect(), "PUT /w/x" + HEAD + "Content-Length: 2\r\n\r\n{}");
    assertThat(answer.header("location")).isEqualTo("https://localhost/w/x");
  }

  @Test
  void a_stop_waits_for_what_is_on_its_way() throws Exception {
    LectusServer stopping =
        LectusServer.start(
            stores.fresh(), withPem(new TestSettings()).with(HttpKeys.STOP_SECONDS, 30));
    send(connect(stopping.port(), certificate.trusted()), "PUT /w" + HEAD + "\r\n");
    String json = "{\"v\":\"" + "x".repeat(3 << 20) + "\"}";
    send(
        connect(stopping.port(), certificate.trusted()),
        "PUT /w/large" + HEAD + "Content-Length: " + json.length() + "\r\n\r\n" + json);
    try (Connection client = connect(stopping.port(), certificate.trusted())) {
      Answer head = client.write("GET /w/large" + HEAD + "\r\n").readHead();
      CompletableFuture<Void> stopped = CompletableFuture.runAsync(stopping::close);
      assertThat(client.readBody(head, false).body()).contains("x\"}");
      stopped.get(40, TimeUnit.SECONDS);
    }
  }

  @Test
  void browsers_are_told_to_use_nothing_else_if_this_is_wanted() {
    assertThat(send(connect(), "GET /" + HEAD + "\r\n").headers())
        .doesNotContainKey("strict-transport-security");
    TestSettings settings = withPem(new TestSettings()).with(TlsKeys.HSTS_SECONDS, 86_400);
    try (LectusServer strict = LectusServer.start(stores.fresh(), settings)) {
      for (String path : new String[] {"/", "/_example/", "/nodb"}) {
        Connection client = connect(strict.port(), certificate.trusted());
        assertThat(send(client, "GET " + path + HEAD + "\r\n").header("strict-transport-security"))
            .isEqualTo("max-age=86400");
      }
    }
    assertThat(settings.toNode().url(5984)).isEqualTo("https://127.0.0.1:5984");
  }

  @ParameterizedTest
  @ValueSource(strings = {"RSA", "EC"})
  void a_store_of_pkcs12_does_as_well(String algorithm) {
    TestCertificate other = TestCertificate.create(folder, "stored" + algorithm, algorithm);
    TestSettings settings =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, other.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    try (LectusServer stored = LectusServer.start(stores.fresh(), settings)) {
      Connection client = connect(stored.port(), other.trusted());
      send(client, "GET /" + HEAD + "\r\n").expect(200);
    }
  }

  @Test
  void clients_that_can_speak_http_2() throws Exception {
    HttpResponse<String> answer =
        client().send(HttpRequest.newBuilder(uri("https", "/")).build(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
  }

  @Test
  void clients_that_cannot_do_not() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri("https", "/")).version(HttpClient.Version.HTTP_1_1).build();
    HttpResponse<String> answer = client().send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
  }

  @Test
  void a_socket_of_the_live_feeds_opens() throws Exception {
    CompletableFuture<String> first = new CompletableFuture<>();
    WebSocket.Listener listener =
        new WebSocket.Listener() {
          @Override
          public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
            first.complete(text.toString());
            return null;
          }
        };
    WebSocket socket =
        client()
            .newWebSocketBuilder()
            .buildAsync(uri("wss", "/w/_changes?feed=continuous"), listener)
            .get(20, TimeUnit.SECONDS);
    try (Connection writer = connect()) {
      writer.write("PUT /w/told" + HEAD + "Content-Length: 2\r\n\r\n{}").read(false);
      assertThat(first.get(20, TimeUnit.SECONDS)).contains("\"seq\"");
    }
    socket.abort();
  }

  @Test
  void http_without_tls_is_told_so() {
    try (Connection plain = server.connect()) {
      Answer answer = plain.write("GET /" + HEAD + "\r\n").read(false).expect(400);
      assertThat(answer.member("reason")).isEqualTo("This port speaks TLS: use https.");
      assertThat(plain.isAtEnd()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\0", "garbage", "\u0016garbage-garbage", "\u0016\u0003\u0001\u0000\u0005abcde"})
  void garbage_is_cut_off(String garbage) {
    try (Connection plain = server.connect().write(garbage)) {
      plain.readToEnd();
    } catch (java.io.UncheckedIOException reset) {
      assertThat(reset).hasMessageContaining("reset");
    }
  }

  @Test
  void a_handshake_that_is_not_finished_is_cut_off() {
    try (Connection silent = server.connect();
        Connection begun = server.connect().write("\u0016\u0003\u0001\u0001\u0000")) {
      assertThat(silent.isAtEnd()).isTrue();
      begun.readToEnd();
    }
  }

  @Test
  void a_head_that_is_not_finished_is_answered_over_tls() {
    try (Connection slow = connect().write("GET / HTTP/1.1\r\n")) {
      slow.read(false).expect(408);
      assertThat(slow.isAtEnd()).isTrue();
    }
  }

  @Test
  void a_connection_that_rests_between_requests_is_kept() {
    try (Connection resting = connect()) {
      resting.write("GET /" + HEAD + "\r\n").read(false).expect(200);
      a_head_that_is_not_finished_is_answered_over_tls(); // takes as long as a head may
      resting.write("GET /" + HEAD + "\r\n").read(false).expect(200);
    }
  }

  /** Vert.x would log it. */
  @Test
  void one_that_agreed_on_http_2_and_speaks_another_is_closed() throws IOException {
    SSLSocket socket =
        (SSLSocket)
            certificate.trusted().getSocketFactory().createSocket("127.0.0.1", server.port());
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"h2"});
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    assertThat(socket.getApplicationProtocol()).isEqualTo("h2");
    try (Connection wrong = new Connection(socket).write("GET /" + HEAD + "\r\n")) {
      assertThat(wrong.readToEnd()).doesNotContain("HTTP/1.1");
    }
  }

  @Test
  void one_connection_too_many_gets_an_alert() {
    TestSettings settings = withPem(new TestSettings()).maxConnections(1);
    try (LectusServer small = LectusServer.start(stores.fresh(), settings);
        Connection only = connect(small.port(), certificate.trusted())) {
      only.write("PUT /w" + HEAD + "\r\n").read(false);
      only.write("GET /w/_changes?feed=continuous" + HEAD + "\r\n").readHead();
      assertThatThrownBy(() -> connect(small.port(), certificate.trusted()))
          .hasCauseInstanceOf(SSLException.class)
          .hasMessageContaining("internal_error");
    }
  }

  /** The first bytes of handshakes that Java's own clients would not begin. */
  private static final class Hellos {
    private Hellos() {}

    /** Returns a ClientHello (RFC 5246, section 7.4.1.2) that offers one version, one cipher. */
    static byte[] ofVersion(int major, int minor) {
      return of(major, minor, 0x002f);
    }

    /**
     * @param cipher its number, such as 0x002f for TLS_RSA_WITH_AES_128_CBC_SHA
     */
    static byte[] of(int major, int minor, int cipher) {
      byte[] hello = new byte[5 + 4 + 41];
      hello[0] = 22; // a handshake
      hello[1] = 3;
      hello[2] = 1;
      hello[4] = 4 + 41;
      hello[5] = 1; // ClientHello
      hello[8] = 41;
      hello[9] = (byte) major;
      hello[10] = (byte) minor;
      // 32 random bytes, no session
      hello[45] = 2; // bytes of ciphers
      hello[46] = (byte) (cipher >> Byte.SIZE);
      hello[47] = (byte) cipher;
      hello[48] = 1; // compressions
      return hello;
    }
  }
}
