package lectus.clients;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The dashboard in the jar, used in a browser. */
final class DashboardTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Path PICTURES = Path.of("target", "pictures");

  private static final String PASSWORD = "s:cret/&";

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
              "LECTUS_PICTURES", Files.createDirectories(PICTURES).toAbsolutePath().toString(),
              "LECTUS_CHROMIUM", chromium.get().toString());
      clients.test("dashboard.test.mjs", environment).assertPassed(15);
    }
  }
}
