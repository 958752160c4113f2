package lectus.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import lectus.account.Admins;
import lectus.cli.SampleCommand.DocumentLoader;
import lectus.cli.SampleCommand.UnicodeCharacters;
import lectus.cli.ServerUrl;
import lectus.config.TlsKeys;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The lines for curl of README.md and docs/operations.md, as they stand; curl finds the server
 * under the README's address.
 */
final class ReadmeTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** All that the README asks for, up to the Greek block. */
  private static final int CHARACTERS = 0x400;

  @TempDir Path folder;

  @BeforeAll
  static void curl() throws InterruptedException {
    NodeClients.need(
        NodeClients.runs("curl", "--version") && NodeClients.runs("bash", "--version"),
        "curl and bash are not installed");
  }

  /** Returns curl's commands of a heading's last block, and what they export. */
  private static List<String> commands(String heading) throws IOException {
    String all =
        Files.readString(Path.of("README.md")) + Files.readString(Path.of("docs/operations.md"));
    String below = all.split("\n##+ " + heading + "\n", 2)[1];
    String[] blocks = below.split("\n##+ ", 2)[0].split("```sh\n");
    String block = blocks[blocks.length - 1].split("```", 2)[0].replace("\\\n", " ");
    return block
        .lines()
        .filter(line -> line.startsWith("curl ") || line.startsWith("export "))
        .toList();
  }

  /** Returns the answers; a feed that does not end is given up. */
  private List<String> answers(String heading, String place, LectusServer server)
      throws IOException, InterruptedException {
    Files.writeString(
        folder.resolve(".curlrc"),
        "silent\nconnect-to = \"" + place + ":127.0.0.1:%d\"\n".formatted(server.port()));
    String exports = "";
    List<String> answers = new ArrayList<>();
    for (String command : commands(heading)) {
      if (command.startsWith("export ")) {
        exports += command + '\n';
      } else {
        String limit = command.contains("feed=") ? "timeout 3 " : "";
        answers.add(output(exports + limit + command));
      }
    }
    assertThat(answers).hasSizeGreaterThan(3).noneMatch(it -> it.contains("\"error\""));
    return answers;
  }

  private String output(String script) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", script)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("CURL_HOME", folder.toString());
    Process process = builder.start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).as(script).isTrue();
    return Files.readString(output);
  }

  @Test
  void the_quick_tour() throws Exception {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      new DocumentLoader(
              ServerUrl.of(
                  URI.create(server.url() + "/unicode"),
                  Optional.empty(),
                  name -> Optional.empty()),
              sent -> {})
          .load(
              UnicodeCharacters.all().limit(CHARACTERS),
              (batch, character) -> UnicodeCharacters.write(character, batch));
      List<String> answers = answers("A quick tour", "127.0.0.1:5984", server);
      assertThat(answers.get(0)).contains("LATIN SMALL LETTER SHARP S");
      assertThat(answers.get(2)).contains("GREEK");
      assertThat(answers.get(answers.size() - 1)).contains("debit", "credit");
    }
  }

  @Test
  void from_a_laptop_to_a_team_server() throws Exception {
    try (LectusServer server = LectusServer.start(storeOf("admin"))) {
      // In the place of the restored backup.
      server.request("PUT", "/notes", "Authorization", Member.basic("admin", "secret")).send();
      List<String> answers = answers("From a laptop to a team server", "127.0.0.1:5984", server);
      assertThat(answers.get(answers.size() - 1)).contains("\"total_rows\":0");
    }
  }

  @Test
  void on_the_network() throws Exception {
    TestCertificate certificate = TestCertificate.create(folder, "server", "EC");
    certificate.writeCertificate(folder.resolve("cert.pem"));
    TestSettings settings =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, certificate.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    try (LectusServer server = LectusServer.start(storeOf("ann"), settings)) {
      List<String> answers = answers("Put it on the network", "localhost:5984", server);
      assertThat(answers.get(answers.size() - 1)).contains("\"id\":\"first\"");
    }
  }

  private static Store storeOf(String admin) {
    Store store = stores.fresh();
    new Admins(store).put(admin, Admins.hashOf("secret", 10));
    return store;
  }
}
