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
import lectus.http.HostSettings;
import lectus.http.testing.Bearer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Clients as published on npm, and a browser, where it matters who asks. */
final class LogInClientsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Pattern PASSED = Pattern.compile("^# pass (\\d+)$", Pattern.MULTILINE);

  private static final String PASSWORD = "s:cret/&";

  @TempDir Path folder;

  @Test
  void each_client_logs_in_in_each_way() throws Exception {
    NodeClients clients = NodeClients.install();
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    TestSettings settings = new TestSettings().with(AccessKeys.JWT_KEYS, keys);
    try (LectusServer server = LectusServer.start(stores.fresh(), settings)) {
      server.put("/_node/_local/_config/admins/root", '"' + PASSWORD + '"');
      Map<String, String> environment =
          Map.of(
              "LECTUS_URL", server.url(),
              "LECTUS_PASSWORD", PASSWORD,
              "LECTUS_TOKEN_SECRET", Base64.getEncoder().encodeToString(Bearer.SECRET));
      passes(clients.test("log-in.test.mjs", environment), 7);
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

  private static void passes(NodeClients.Outcome outcome, int tests) {
    assertThat(outcome.status()).as(outcome.output()).isZero();
    Matcher passed = PASSED.matcher(outcome.output());
    assertThat(passed.find()).as(outcome.output()).isTrue();
    assertThat(Integer.parseInt(passed.group(1))).isEqualTo(tests);
  }
}
