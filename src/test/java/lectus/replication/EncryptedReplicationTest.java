package lectus.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import lectus.abuse.ServerProcess;
import lectus.audit.testing.SoundStore;
import lectus.config.ReplicatorKeys;
import lectus.config.TlsKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Replications from servers that are asked by TLS: whose certificates are good enough. */
final class EncryptedReplicationTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int HEAP_MEGABYTES = 128;
  private static final String HOST = "db.example.test";

  @TempDir static Path folder;

  private static TestCertificate ofLocalhost;
  private static TestCertificate ofOther;

  /** Which host was asked for in TLS and in HTTP. */
  private final List<String> asked = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void create() {
    ofLocalhost = TestCertificate.create(folder, "localhost", "EC");
    ofOther = TestCertificate.of(folder, HOST);
  }

  private static Path pem(TestCertificate certificate, String name) {
    return certificate.writeCertificate(folder.resolve(name + ".pem"));
  }

  private static TestSettings settings(boolean isTrusted, boolean verifies, Path pem) {
    TestSettings settings = new TestSettings().with(ReplicatorKeys.VERIFY, verifies);
    return isTrusted ? settings.with(ReplicatorKeys.CERTIFICATES, pem) : settings;
  }

  @ParameterizedTest
  @CsvSource({
    "localhost,   trusted, verified,   200",
    "127.0.0.1,   trusted, verified,   200",
    "localhost,   unknown, verified,   500",
    "localhost,   unknown, unverified, 200",
    "db.example.test, trusted, verified,   500",
    "db.example.test, trusted, unverified, 200"
  })
  void a_certificate_has_to_be_known_and_to_name_the_host_unless_none_is_verified(
      String named, String trust, String verify, int status) throws IOException {
    TestCertificate certificate = named.equals(HOST) ? ofOther : ofLocalhost;
    Path pem = pem(certificate, "server");
    TestSettings encrypted =
        new TestSettings()
            .with(TlsKeys.CERTIFICATE, pem)
            .with(TlsKeys.KEY, certificate.writeKey(folder.resolve("server.key")));
    Store data = stores.fresh();
    try (LectusServer there = LectusServer.start(data)) {
      there.put("/w");
      there.write("/w/a", "{}");
    }
    try (LectusServer there = LectusServer.start(data, encrypted);
        LectusServer here =
            LectusServer.start(
                stores.fresh(),
                settings(trust.equals("trusted"), verify.equals("verified"), pem))) {
      here.put("/w");
      String host = named.equals(HOST) ? "localhost" : named;
      String source = "https://" + host + ':' + there.port() + "/w";

      Answer answer =
          here.post(
              "/_replicate",
              "{\"source\":\"%s\",\"target\":\"w\",\"retries_per_request\":0}".formatted(source));

      assertThat(answer.status()).as(answer.body()).isEqualTo(status);
      assertThat(answer.body()).doesNotContain("Exception", "sun.", "javax.", "io.");
      here.get("/w/a").expect(status == 200 ? 200 : 404);
    }
  }

  private HttpsServer serve() throws IOException {
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(ofOther.trusted(ofOther)));
    server.createContext("/", this::answer);
    server.start();
    return server;
  }

  private void answer(HttpExchange exchange) throws IOException {
    ExtendedSSLSession session = (ExtendedSSLSession) ((HttpsExchange) exchange).getSSLSession();
    for (SNIServerName name : session.getRequestedServerNames()) {
      asked.add(((SNIHostName) name).getAsciiName());
    }
    asked.add(exchange.getRequestHeaders().getFirst("Host"));
    byte[] body = "{\"error\":\"not_found\"}".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(404, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Test
  void the_host_is_asked_by_its_name_at_an_address_that_was_judged(@TempDir Path data)
      throws IOException {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
    Path hosts =
        Files.writeString(
            data.resolve("hosts"),
            "127.0.0.1 localhost\n127.0.0.1 %s\n127.0.0.1 other.test\n169.254.1.1 inside.test\n"
                .formatted(HOST));
    HttpsServer there = serve();
    String port = ":" + there.getAddress().getPort();
    try (ServerProcess server =
        ServerProcess.start(
            data,
            HEAP_MEGABYTES,
            Map.of("JAVA_TOOL_OPTIONS", "-Djdk.net.hosts.file=" + hosts),
            "replicator.certificates=" + pem(ofOther, "other"))) {
      new Request(server.port(), "PUT", "/w").send();

      assertThat(pull(server, "https://" + HOST + port).body()).contains("could not open");
      assertThat(asked).containsExactly(HOST, HOST + port);
      pull(server, "https://other.test" + port).expect(500);
      pull(server, "https://inside.test" + port).expect(403);
      assertThat(asked).hasSize(2);
    } finally {
      there.stop(0);
    }
  }

  private static Answer pull(ServerProcess server, String from) {
    return new Request(server.port(), "POST", "/_replicate")
        .json("{\"source\":\"%s/w\",\"target\":\"w\",\"retries_per_request\":0}".formatted(from))
        .send();
  }
}
