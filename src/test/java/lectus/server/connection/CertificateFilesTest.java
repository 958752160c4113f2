package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import lectus.Lectus;
import lectus.cli.Console;
import lectus.config.TlsKeys;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that change, files that cannot be used, and certificates of clients. */
final class CertificateFilesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String UP = "GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n";

  @TempDir static Path made;

  @TempDir Path folder;

  private static TestCertificate first;
  private static TestCertificate second;
  private static TestCertificate third;

  @AutoClose private final LogLines log = LogLines.of(ServedCertificates.class);

  @BeforeAll
  static void create() {
    first = TestCertificate.create(made, "first", "EC");
    second = TestCertificate.create(made, "second", "RSA");
    third = TestCertificate.create(made, "third", "EC");
  }

  private Path certificateFile() {
    return folder.resolve("certificate.pem");
  }

  private Path keyFile() {
    return folder.resolve("key.pem");
  }

  private void write(TestCertificate certificate) {
    certificate.writeCertificate(certificateFile());
    certificate.writeKey(keyFile());
  }

  private TestSettings withFiles() {
    write(first);
    return new TestSettings()
        .with(TlsKeys.CERTIFICATE, certificateFile())
        .with(TlsKeys.KEY, keyFile());
  }

  private static SSLSocket connect(LectusServer server, SSLContext context) throws IOException {
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", server.port());
    socket.startHandshake();
    return socket;
  }

  private static boolean shows(LectusServer server, TestCertificate certificate) {
    try (SSLSocket socket = connect(server, certificate.trusted())) {
      Certificate[] shown = socket.getSession().getPeerCertificates();
      return shown[0].equals(certificate.certificate());
    } catch (IOException another) {
      return false;
    }
  }

  private List<String> warnings() {
    return log.events().stream()
        .filter(line -> line.getLevel() == Level.WARN)
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  @Test
  void new_connections_get_a_certificate_that_was_changed() throws IOException {
    try (LectusServer server = LectusServer.start(stores.fresh(), withFiles());
        Connection open = new Connection(connect(server, first.trusted()))) {
      open.write(UP).read(false).expect(200);
      write(second);
      Await.until("the second is shown", () -> shows(server, second));
      open.write(UP).read(false).expect(200);
      assertThat(shows(server, first)).isFalse();
    }
    assertThat(warnings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"EC", "RSA", "Ed25519", "Ed448"})
  void a_certificate_of_each_kind_is_shown(String algorithm) throws IOException {
    TestCertificate certificate = TestCertificate.create(folder, "kind", algorithm);
    TestSettings files = withFiles();
    write(certificate);
    TestSettings store =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, certificate.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    for (TestSettings settings : List.of(files, store)) {
      try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
        assertThat(shows(server, certificate)).isTrue();
        assertThat(up(server, certificate.trusted())).isEqualTo(200);
      }
    }
  }

  @Test
  void a_file_that_cannot_be_used_changes_nothing_and_is_told_of_once() throws IOException {
    try (LectusServer server = LectusServer.start(stores.fresh(), withFiles())) {
      Files.writeString(keyFile(), "no key");
      Await.until("the log tells of it", () -> !warnings().isEmpty());
      assertThat(shows(server, first)).isTrue();
      second.writeKey(keyFile());
      Await.until("the log tells of the other one, too", () -> warnings().size() == 2);
      assertThat(shows(server, first)).isTrue();
      Files.delete(keyFile());
      Await.until("and of none", () -> warnings().size() == 3);
      write(second);
      Await.until("the second is shown", () -> shows(server, second));
    }
    assertThat(warnings()).hasSize(3);
    assertThat(warnings()).allSatisfy(line -> assertThat(line).contains(keyFile().toString()));
  }

  @Test
  void a_client_may_need_a_certificate_of_its_own() throws IOException {
    TestSettings settings =
        withFiles()
            .with(TlsKeys.CLIENT_CERTIFICATES, "required")
            .with(TlsKeys.CLIENT_CA, second.writeCertificate(folder.resolve("clients.pem")));
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      assertThat(up(server, first.trusted(second))).isEqualTo(200);
      // TLS 1.3 tells it after the handshake: by an alert, or by a closed connection.
      assertThatThrownBy(() -> up(server, first.trusted())).hasCauseInstanceOf(IOException.class);
      assertThatThrownBy(() -> up(server, first.trusted(first)))
          .hasCauseInstanceOf(IOException.class);
    }
  }

  @Test
  void or_may_show_one() throws IOException {
    TestSettings settings =
        withFiles()
            .with(TlsKeys.CLIENT_CERTIFICATES, "optional")
            .with(TlsKeys.CLIENT_CA, second.writeCertificate(folder.resolve("clients.pem")));
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      assertThat(up(server, first.trusted(second))).isEqualTo(200);
      assertThat(up(server, first.trusted())).isEqualTo(200);
    }
  }

  private static int up(LectusServer server, SSLContext context) throws IOException {
    try (Connection client = new Connection(connect(server, context))) {
      return client.write(UP).read(false).status();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tls.certificate=none.pem                          | cannot be read",
        "tls.certificate=first.pem                         | needs a certificate and its private"
            + " key",
        "tls.certificate=first.pem tls.key=text            | needs a certificate and its private"
            + " key",
        "tls.certificate=text tls.key=first.key            | needs a certificate and its private"
            + " key",
        "tls.certificate=first.pem tls.key=third.key       | do not belong together",
        "tls.certificate=first.pem tls.key=second.key      | its private key",
        "tls.key=first.key                                 | needs a \"tls.certificate\"",
        "tls.keystore=text                                 | no PKCS#12 store",
        "tls.keystore=first.p12 tls.keystore-password=no   | another password",
        "tls.keystore=first.p12 tls.certificate=first.pem  | takes the place",
        "tls.client-certificates=required                  | need TLS",
        "tls.certificate=first.pem tls.client-certificates=required | go together",
        "tls.certificate=first.pem tls.key=first.key tls.client-certificates=optional"
            + " tls.client-ca=text | needs certificates",
      })
  void a_start_with_files_that_cannot_be_used_ends_with_a_sentence(String keys, String sentence)
      throws IOException {
    Files.writeString(made.resolve("text"), "text");
    first.writeCertificate(made.resolve("first.pem"));
    first.writeKey(made.resolve("first.key"));
    second.writeKey(made.resolve("second.key"));
    third.writeKey(made.resolve("third.key"));
    StringWriter err = new StringWriter();
    Console console = new Console(new PrintWriter(new StringWriter()), new PrintWriter(err));
    assertThat(Lectus.run(arguments(keys), Map.of(), console)).isEqualTo(78);
    assertThat(err.toString().strip()).contains(sentence).endsWith(".").hasLineCount(1);
    assertThat(err.toString()).doesNotContain("=no");
  }

  private String[] arguments(String keys) {
    StringBuilder line = new StringBuilder("serve --port 0 --data " + folder.resolve("data"));
    for (String key : keys.strip().split("\\s+")) {
      String[] parts = key.split("=");
      boolean isFile = !parts[0].endsWith("-certificates") && !parts[0].endsWith("-password");
      String value = isFile ? made.resolve(parts[1]).toString() : parts[1];
      line.append(" --set ").append(parts[0]).append('=').append(value);
    }
    return line.toString().split(" ");
  }
}
