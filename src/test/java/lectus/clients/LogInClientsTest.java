package lectus.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.config.AccessKeys;
import lectus.config.CorsKeys;
import lectus.config.TlsKeys;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.testing.Bearer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Clients as published on npm, and a browser, where it matters who asks. */
final class LogInClientsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Pattern PASSED = Pattern.compile("^# pass (\\d+)$", Pattern.MULTILINE);

  private static final Pattern CORS_FLAG = Pattern.compile("--cors-origin (http://localhost:\\d+)");

  private static final String PASSWORD = "s:cret/&";
  private static final String PROXY_SECRET = "between us";

  /** The test's admin has his name for a password. */
  private static final String PASSWORD_OF_ROOT = "root";

  /** SHA-512 of PouchDB 9.0.0, which has a build for browsers. */
  private static final String POUCHDB =
      "6wjFc/PzwaWz86rmMXoqdBlR/fBSkNoWO1mEJO7RZNS6n3xf+fhhXWAWtws741KpLKx84IkmmJ48tp+fhFzj4A==";

  @TempDir Path folder;

  @Test
  void each_client_logs_in_in_each_way() throws Exception {
    NodeClients clients = NodeClients.install();
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    TestSettings settings =
        new TestSettings()
            .with(AccessKeys.JWT_KEYS, keys)
            .with(AccessKeys.PROXY_AUTH, true)
            .with(AccessKeys.PROXY_SECRET, PROXY_SECRET);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      server.put("/_node/_local/_config/admins/root", '"' + PASSWORD + '"');
      Map<String, String> environment =
          Map.of(
              "LECTUS_URL",
              server.url(),
              "LECTUS_PASSWORD",
              PASSWORD,
              "LECTUS_PROXY_SECRET",
              PROXY_SECRET,
              "LECTUS_TOKEN_SECRET",
              Base64.getEncoder().encodeToString(Bearer.SECRET));
      passes(clients.test("log-in.test.mjs", environment), 12);
    }
  }

  @Test
  void a_browser_logs_in_in_each_way() throws Exception {
    inBrowser(new TestSettings(), "http://127.0.0.1:");
  }

  @Test
  void a_browser_logs_in_in_each_way_over_tls() throws Exception {
    TestCertificate certificate = TestCertificate.create(folder, "server", "EC");
    TestSettings settings =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, certificate.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    inBrowser(settings, "https://localhost:");
  }

  private void inBrowser(TestSettings settings, String origin) throws Exception {
    Optional<Path> chromium = Chromium.find();
    NodeClients.need(chromium.isPresent(), "Chromium is not installed");
    NodeClients clients = NodeClients.install();
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    Path pouch = pouchForBrowsers(clients);
    Store store = stores.fresh();
    Member.makeAdmin(store, PASSWORD_OF_ROOT);
    TestSettings strict = new TestSettings().with(AccessKeys.REQUIRE_VALID_USER, true);
    try (LectusServer server = LectusServer.start(store, settings.with(AccessKeys.JWT_KEYS, keys));
        LectusServer asking = LectusServer.start(store, strict)) {
      Map<String, String> environment =
          Map.of(
              "LECTUS_URL", origin + server.port(),
              "LECTUS_STRICT_URL", asking.url(),
              "LECTUS_PASSWORD", PASSWORD_OF_ROOT,
              "LECTUS_TOKEN_SECRET", Base64.getEncoder().encodeToString(Bearer.SECRET),
              "LECTUS_CHROMIUM", chromium.get().toString(),
              "LECTUS_POUCHDB", pouch.toString(),
              "NODE_TLS_REJECT_UNAUTHORIZED", "0");
      passes(clients.test("browser-log-in.test.mjs", environment), 12);
    }
  }

  @Test
  void a_page_of_another_origin_neither_reads_nor_writes() throws Exception {
    Optional<Path> chromium = Chromium.find();
    NodeClients.need(chromium.isPresent(), "Chromium is not installed");
    NodeClients clients = NodeClients.install();
    TestSettings settings = new TestSettings().hosts(HostSettings.named(List.of()));
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      Map<String, String> environment =
          Map.of("LECTUS_URL", server.url(), "LECTUS_CHROMIUM", chromium.get().toString());
      passes(clients.test("cross-site.test.mjs", environment), 7);
    }
  }

  @Test
  void the_samples_of_the_readme_run_in_a_page_of_another_origin() throws Exception {
    Optional<Path> chromium = Chromium.find();
    NodeClients.need(chromium.isPresent(), "Chromium is not installed");
    NodeClients clients = NodeClients.install();
    Path readme = Path.of("README.md").toAbsolutePath();
    Matcher flag = CORS_FLAG.matcher(Files.readString(readme));
    assertThat(flag.find()).isTrue();
    TestSettings settings =
        new TestSettings()
            .hosts(HostSettings.named(List.of()))
            .with(CorsKeys.CORS_ORIGINS, flag.group(1));
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      Map<String, String> environment =
          Map.of(
              "LECTUS_URL", server.url(),
              "LECTUS_README", readme.toString(),
              "LECTUS_CHROMIUM", chromium.get().toString(),
              "LECTUS_POUCHDB", pouchForBrowsers(clients).toString());
      clients.test("readme.test.mjs", environment).assertPassed(2);
    }
  }

  private static Path pouchForBrowsers(NodeClients clients) throws Exception {
    Path unpacked = clients.unpack("pouchdb", "9.0.0", POUCHDB);
    return unpacked.resolve("dist/pouchdb.min.js").toAbsolutePath();
  }

  private static void passes(NodeClients.Outcome outcome, int tests) {
    assertThat(outcome.status()).as(outcome.output()).isZero();
    Matcher passed = PASSED.matcher(outcome.output());
    assertThat(passed.find()).as(outcome.output()).isTrue();
    assertThat(Integer.parseInt(passed.group(1))).isEqualTo(tests);
  }
}
