package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import lectus.Lectus;
import lectus.abuse.ServerProcess;
import lectus.http.testing.TestCertificate;
import lectus.store.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an engine of containers learns of servers, whatever their clients have to have. */
final class HealthCommandTest {
  @TempDir private Path folder;

  private final StringWriter said = new StringWriter();

  private int health() {
    PrintWriter to = new PrintWriter(said);
    return Lectus.run(
        new String[] {"health"},
        Map.of("LECTUS_ADDRESS_FILE", file().toString()),
        new Console(to, to));
  }

  private Path file() {
    return folder.resolve("address");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "access.require-valid-user=true",
        "http.proxy-protocol=127.0.0.1",
        "tls.certificate=TLS tls.client-certificates=required tls.client-ca=TLS",
        "tls.certificate=TLS http.proxy-protocol=127.0.0.0/8"
      })
  void a_server_is_up_until_it_has_ended(String settings) {
    assumeThat(ServerProcess.canBeWatched()).isTrue();
    assertThat(health()).isEqualTo(1);
    String all = "address-file=" + file() + " " + settings.replace("TLS", certificate());
    try (ServerProcess server = ServerProcess.start(folder, 64, all.split(" "))) {
      // On a busy machine the first handshake may take longer than a probe waits.
      Await.until("it is up", () -> health() == 0);
      server.stop(60);
      assertThat(file()).doesNotExist();
      assertThat(health()).isEqualTo(1);
    }
  }

  private String certificate() {
    TestCertificate made = TestCertificate.create(folder, "server", "EC");
    try {
      Path file = folder.resolve("server.pem");
      String key = Files.readString(made.writeKey(folder.resolve("key")));
      return Files.writeString(
              file, Files.readString(made.writeCertificate(folder.resolve("certificate"))) + key)
          .toString();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void one_that_was_killed_is_not_up() {
    assumeThat(ServerProcess.canBeWatched()).isTrue();
    ServerProcess server = ServerProcess.start(folder, 64, "address-file=" + file());
    server.close();

    assertThat(file()).exists();
    assertThat(health()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n", "http", "http://", "http://127.0.0.1", "^ ^", "http://[::1"})
  void a_file_without_an_address_is_no_defect(String content) throws IOException {
    Files.writeString(file(), content);

    assertThat(health()).isEqualTo(1);
    assertThat(said.toString()).startsWith("lectus: No server answers").hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource({"200,0", "401,0", "429,0", "500,1", "503,1"})
  void an_answer_says_whether_it_is_up(int answer, int status) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/_up",
        exchange -> {
          exchange.sendResponseHeaders(answer, -1);
          exchange.close();
        });
    server.start();
    try {
      String address = "//127.0.0.1:" + server.getAddress().getPort();
      Files.writeString(file(), "http:" + address + "\n");
      assertThat(health()).isEqualTo(status);
      for (String other : new String[] {address, "ftp:" + address}) {
        Files.writeString(file(), other);
        assertThat(health()).isEqualTo(1);
        assertThat(said.toString()).endsWith(file() + " has no address.\n");
      }
    } finally {
      server.stop(0);
    }
  }
}
