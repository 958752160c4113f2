package lectus.clients;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import lectus.config.HttpKeys;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** CouchDB's dashboard as published on npm, served by Lectus and used in a browser. */
final class FauxtonTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String VERSION = "1.2.6";

  private static final String SHA_512 =
      "5ZwPKqstwmQclSHifWBmbyzlBOLoBB3gssGaiEFLPcIzHO0Zxz+uPr/D/Fs6DGH7Hfohw7s6zqcjwU9CRcshfw==";

  private static final String PASSWORD = "s:cret/&";

  @Test
  void no_page_is_broken() throws Exception {
    Optional<Path> chromium = Chromium.find();
    NodeClients.need(chromium.isPresent(), "Chromium is not installed");
    NodeClients clients = NodeClients.install();
    Path build = clients.unpack("fauxton", VERSION, SHA_512).resolve("dist/release");
    TestSettings settings = new TestSettings().with(HttpKeys.UTILS, build);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      server.put("/_node/_local/_config/admins/root", '"' + PASSWORD + '"');
      Map<String, String> environment =
          Map.of(
              "LECTUS_URL", server.url(),
              "LECTUS_PASSWORD", PASSWORD,
              "LECTUS_CHROMIUM", chromium.get().toString());
      clients.test("fauxton.test.mjs", environment).assertPassed(19);
    }
  }

  @Test
  void it_shows_what_a_server_under_load_does() throws Exception {
    Optional<Path> chromium = Chromium.find();
    NodeClients.need(chromium.isPresent(), "Chromium is not installed");
    NodeClients clients = NodeClients.install();
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      server.put("/_node/_local/_config/admins/root", '"' + PASSWORD + '"');
      Map<String, String> environment =
          Map.of(
              "LECTUS_URL", server.url(),
              "LECTUS_PASSWORD", PASSWORD,
              "LECTUS_PICTURES", System.getProperty("lectus.test.pictures", ""),
              "LECTUS_CHROMIUM", chromium.get().toString());
      clients.test("dashboard.test.mjs", environment).assertPassed(16);
    }
  }
}
