package lectus.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.audit.testing.SoundStore;
import lectus.cli.SampleCommand.DocumentLoader;
import lectus.cli.SampleCommand.UnicodeCharacters;
import lectus.cli.ServerUrl;
import lectus.config.TlsKeys;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.http.testing.TwoPlaces;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The running server with the clients that CouchDB's users have, as published on npm. */
final class ClientsTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int REPLICATED_DOCUMENTS =
      Integer.getInteger("lectus.test.replicated-documents", 2_000);

  /** As in server.mjs. */
  private static final String PASSWORD = "p@ss word/&";

  private static final String ENCODED = "p%40ss%20word%2F%26";

  /** The server's default. */
  private static final int REQUEST_BYTES = 128 << 20;

  private static NodeClients clients;
  private static LectusServer server;

  @BeforeAll
  static void start() throws Exception {
    clients = NodeClients.install();
    server = LectusServer.start(stores.fresh(), new TestSettings().maxRequestBytes(REQUEST_BYTES));
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void pouchdb() throws Exception {
    passes("pouchdb.test.mjs", 7);
  }

  @Test
  void pouchdb_over_tls(@TempDir Path folder) throws Exception {
    TestCertificate certificate = TestCertificate.create(folder, "server", "EC");
    TestSettings settings =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, certificate.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    Path trusted = certificate.writeCertificate(folder.resolve("server.pem"));
    try (LectusServer secure = LectusServer.start(stores.fresh(), settings)) {
      passes(
          "pouchdb.test.mjs",
          7,
          Map.of(
              "LECTUS_URL",
              "https://localhost:" + secure.port(),
              "NODE_EXTRA_CA_CERTS",
              trusted.toString()));
    }
  }

  @Test
  void conflicts_with_pouchdb() throws Exception {
    passes("conflicts.test.mjs", 5);
  }

  @Test
  void nano() throws Exception {
    passes("nano.test.mjs", 5);
  }

  @Test
  void couchdb_promises_and_node_couchdb() throws Exception {
    passes("simple.test.mjs", 2);
  }

  @Test
  void queries_of_pouchdb_find_nano_and_cloudant() throws Exception {
    passesForJan("find.test.mjs", 8, Map.of());
  }

  @Test
  void credentials() throws Exception {
    try (LectusServer own = ofJan()) {
      passes("credentials.test.mjs", 6, Map.of("LECTUS_URL", own.url()));
    }
  }

  @Test
  void couchbackup() throws Exception {
    passesForJan("couchbackup.test.mjs", 3, Map.of());
  }

  @Test
  void attachments_with_pouchdb_nano_and_couchbackup() throws Exception {
    passes("attachments.test.mjs", 4);
  }

  @Test
  void pouchdb_goes_on_with_a_restored_database() throws Exception {
    passes("restored.test.mjs", 2);
  }

  @Test
  void rxdb() throws Exception {
    passes("rxdb.test.mjs", 2);
  }

  @Test
  void chunks_of_obsidian_livesync() throws Exception {
    passesForJan("livesync.test.mjs", 3, Map.of());
  }

  @Test
  void replication_with_pouchdb() throws Exception {
    DocumentLoader.Loaded loaded =
        new DocumentLoader(
                ServerUrl.of(
                    URI.create(server.url() + "/unicode"),
                    Optional.empty(),
                    name -> Optional.empty()),
                sent -> {})
            .load(
                UnicodeCharacters.all().limit(REPLICATED_DOCUMENTS),
                (batch, character) -> UnicodeCharacters.write(character, batch));
    assertThat(loaded.documents()).isEqualTo(REPLICATED_DOCUMENTS);
    passes(
        "replication.test.mjs",
        3,
        Map.of("LECTUS_DOCUMENTS", Integer.toString(REPLICATED_DOCUMENTS)));
  }

  @Test
  void a_database_that_moves() throws Exception {
    try (TwoPlaces places = new TwoPlaces(stores.fresh(), stores.fresh())) {
      places.before("PUT", "/synced").send();
      String url = places.former().url().replace("//", "//root:root@");
      CompletableFuture<Void> sync =
          CompletableFuture.runAsync(
              () ->
                  assertThatCode(() -> passes("moved.test.mjs", 1, Map.of("LECTUS_URL", url)))
                      .doesNotThrowAnyException());
      Await.until(
          "the client wants the move",
          () -> sync.isDone() || places.before("GET", "/synced/move").send().status() == 200);
      places.relocate("synced");
      places.after("PUT", "/synced/moved").json("{}").send();
      sync.join();
    }
  }

  /** The example page, in a browser. */
  @Test
  void chromium() throws Exception {
    Optional<Path> chromium = Chromium.find();
    NodeClients.need(chromium.isPresent(), "Chromium is not installed");
    passes("chromium.test.mjs", 10, Map.of("LECTUS_CHROMIUM", chromium.get().toString()));
  }

  /** On a server of which jan is the admin. */
  private static LectusServer ofJan() {
    LectusServer own =
        LectusServer.start(stores.fresh(), new TestSettings().maxRequestBytes(REQUEST_BYTES));
    own.put("/_node/_local/_config/admins/jan", '"' + PASSWORD + '"');
    return own;
  }

  private static void passesForJan(String file, int tests, Map<String, String> more)
      throws Exception {
    try (LectusServer own = ofJan()) {
      Map<String, String> environment = new HashMap<>(more);
      environment.put("LECTUS_URL", own.url().replace("//", "//jan:" + ENCODED + "@"));
      passes(file, tests, environment);
    }
  }

  private static void passes(String file, int tests) throws Exception {
    passes(file, tests, Map.of());
  }

  private static void passes(String file, int tests, Map<String, String> more) throws Exception {
    Map<String, String> environment = new HashMap<>(more);
    environment.putIfAbsent("LECTUS_URL", server.url());
    clients.test(file, environment).assertPassed(tests);
  }
}
