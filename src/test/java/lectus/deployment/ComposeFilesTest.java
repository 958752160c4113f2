package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.StoreKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The compose files, as far as that goes without starting anything. */
@Timeout(60)
final class ComposeFilesTest {
  /** An orderly stop takes as long as running requests may, and a minute for all other steps. */
  private static final Duration BEYOND_REQUESTS = Duration.ofSeconds(60);

  private static final Path SECRETS = ComposeFile.FOLDER.resolve("lectus.env.example");

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml"})
  void each_server_has_keys_that_there_are_and_needs_an_admin(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);
    assertThat(file.servers()).isNotEmpty();
    for (String server : file.servers()) {
      assertThat(file.served(server).needsAnAdmin()).isTrue();
      assertThat(file.service(server).at("env_file").text()).isEqualTo("lectus.env");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml"})
  void each_server_has_time_to_stop_in_order(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);
    for (String server : file.servers()) {
      Duration grace = Duration.parse("PT" + file.service(server).at("stop_grace_period").text());
      assertThat(grace.minus(BEYOND_REQUESTS))
          .isGreaterThan(Duration.ofSeconds(file.served(server).get(HttpKeys.STOP_SECONDS)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml"})
  void each_server_is_confined(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);
    for (String server : file.servers()) {
      Yaml service = file.service(server);
      assertThat(service.at("read_only").value()).isEqualTo(true);
      assertThat(service.at("cap_drop").texts()).containsExactly("ALL");
      assertThat(service.at("security_opt").texts()).containsExactly("no-new-privileges:true");
      assertThat(service.find("user")).isEmpty();
      assertThat(service.find("privileged")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml"})
  void what_they_mount_is_there(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);

    assertThat(file.mounted()).allMatch(Files::exists, "exists");
    assertThat(file.service(file.servers().get(0)).at("build", "dockerfile").text())
        .isEqualTo("docker/Dockerfile");
  }

  @Test
  void the_single_server_keeps_its_data_in_a_volume_and_listens_on_this_machine()
      throws IOException {
    ComposeFile file = new ComposeFile("compose.single.yaml");
    Served served = file.served("lectus");

    assertThat(served.get(StoreKeys.STORE)).isEqualTo("embedded");
    assertThat(file.service("lectus").at("volumes").texts())
        .containsExactly("data:" + served.get(StoreKeys.DATA));
    assertThat(file.yaml().at("volumes").names()).containsExactly("data");
    assertThat(file.service("lectus").at("ports").texts())
        .containsExactly("127.0.0.1:5984:" + served.get(ListenKeys.PORT));
  }

  /** A server without a password refuses to start; one that everybody knows would be worse. */
  @Test
  void the_example_of_the_secrets_has_no_password_in_it() throws IOException {
    List<String> lines =
        Files.readAllLines(SECRETS).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .toList();

    assertThat(lines).containsExactly("COUCHDB_USER=admin", "COUCHDB_PASSWORD=");
    assertThat(Files.readAllLines(Path.of(".gitignore"))).contains("/docker/lectus.env");
  }
}
