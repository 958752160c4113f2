package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocket;
import lectus.config.ProxyKeys;
import lectus.config.TlsKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Proxies that announce their clients before the first byte of a connection. */
final class ProxyProtocolTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String PUT = "PUT /w HTTP/1.1\r\nHost: localhost\r\n\r\n";
  private static final Pattern CLIENT = Pattern.compile(" path=/w .* client=(\\S+) request=");

  private static final byte[] SIGNATURE = HexFormat.of().parseHex("0d0a0d0a000d0a515549540a");

  @AutoClose private final LogLines log = LogLines.of(LogLines.ROOT, "lectus.access");
  private LectusServer server;

  @AfterEach
  void stop() {
    stopServer();
    assertThat(log.complaints()).isEmpty();
  }

  private void stopServer() {
    if (server != null) {
      server.close();
      server = null;
    }
  }

  private void start(String proxies) {
    server =
        LectusServer.start(
            stores.fresh(), new TestSettings().with(ProxyKeys.PROXY_PROTOCOL, proxies));
  }

  private Answer put(byte[] announcement) {
    try (Connection client = server.connect()) {
      return client.write(announcement).write(PUT).read(false);
    }
  }

  private String client() {
    stopServer();
    return log.messages().stream()
        .flatMap(lines -> CLIENT.matcher(lines).results())
        .map((MatchResult found) -> found.group(1))
        .findFirst()
        .orElseThrow();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * @param command 0x20 of the proxy's own; 0x21 of a client
   * @param family 0x11 TCP over IPv4, 0x21 over IPv6
   * @param rest addresses, ports and details
   */
  private static byte[] version2(int command, int family, String rest) {
    byte[] bytes = HexFormat.of().parseHex(rest);
    return ByteBuffer.allocate(16 + bytes.length)
        .put(SIGNATURE)
        .put((byte) command)
        .put((byte) family)
        .putChar((char) bytes.length)
        .put(bytes)
        .array();
  }

  @Test
  void version_1_names_the_client() {
    start("127.0.0.1");
    put(ascii("PROXY TCP4 192.0.2.7 192.0.2.1 4711 5984\r\n")).expect(201);
    assertThat(client()).isEqualTo("192.0.2.7");
  }

  @Test
  void so_does_version_2() {
    start("127.0.0.1");
    byte[] announcement = version2(0x21, 0x11, "c0000207c0000201" + "12671760");
    Answer answer = put(announcement).expect(201);
    assertThat(answer.header("location")).startsWith("http:");
    assertThat(client()).isEqualTo("192.0.2.7");
  }

  @Test
  void version_2_tells_of_ipv6_and_of_tls() {
    start("127.0.0.0/8, ::1");
    String addresses = "20010db8000000000000000000000007" + "20010db8000000000000000000000001";
    String overTls = "20" + "0005" + "01" + "00000000";
    Answer answer = put(version2(0x21, 0x21, addresses + "12671760" + overTls)).expect(201);
    assertThat(answer.header("location")).startsWith("https:");
    assertThat(client()).isEqualTo("2001:db8:0:0:0:0:0:7");
  }

  @Test
  void a_connection_of_the_proxys_own_has_its_address() {
    start("127.0.0.1");
    put(version2(0x20, 0, "")).expect(201);
    assertThat(client()).isEqualTo("127.0.0.1");
  }

  @Test
  void so_has_one_of_unknown_origin() {
    start("127.0.0.1");
    put(ascii("PROXY UNKNOWN\r\n")).expect(201);
    assertThat(client()).isEqualTo("127.0.0.1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "PROXY TCP4 localhost 192.0.2.1 4711 5984\r\n",
        "PROXY TCP4 192.0.2.7 192.0.2.1 4711 598400\r\n",
        "PROXY TCP4 192.0.2.7\r\n",
        "PROXY TCP4 192.0.2.7 192.0.2.1 4711 5984 and so on and so on and so on and so on and so on"
            + " and so on and so on",
        "\r\n\r\n\0\r\nQUIT\n\u007f\u0011\0\0"
      })
  void a_proxy_that_announces_nothing_is_cut_off(String begin) {
    start("127.0.0.1");
    try (Connection client = server.connect().write(begin)) {
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @Test
  void one_with_endless_details_is_cut_off() {
    start("127.0.0.1");
    String details = "ee" + "2000" + "00".repeat(0x2000);
    try (Connection client = server.connect()) {
      client.write(version2(0x21, 0x11, "c0000207c0000201" + "12671760" + details));
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @Test
  void nobody_else_may_announce_a_client() {
    start("10.0.0.0/8");
    put(ascii("PROXY TCP4 192.0.2.7 192.0.2.1 4711 5984\r\n")).expect(400);
    put(version2(0x21, 0x11, "c0000207c0000201" + "12671760")).expect(400);
    put(new byte[0]).expect(201);
    assertThat(client()).isEqualTo("127.0.0.1");
  }

  @Test
  void an_announcement_comes_before_the_handshake(@TempDir Path folder) throws Exception {
    TestCertificate certificate = TestCertificate.create(folder, "server", "EC");
    TestSettings settings =
        new TestSettings()
            .with(ProxyKeys.PROXY_PROTOCOL, "127.0.0.1")
            .with(TlsKeys.KEYSTORE, certificate.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    server = LectusServer.start(stores.fresh(), settings);
    Socket plain = new Socket("127.0.0.1", server.port());
    plain.getOutputStream().write(ascii("PROXY TCP4 192.0.2.7 192.0.2.1 4711 5984\r\n"));
    SSLSocket secure =
        (SSLSocket)
            certificate
                .trusted()
                .getSocketFactory()
                .createSocket(plain, "localhost", server.port(), true);
    try (Connection client = new Connection(secure)) {
      client.write(PUT).read(false).expect(201);
    }
    assertThat(client()).isEqualTo("192.0.2.7");
  }
}
