package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lectus.clients.NodeClients;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script that makes the database of docker/compose.yaml, with an fdbcli that says what
 * FoundationDB's would.
 */
final class FoundationDbSetupTest {
  private static final String FDBCLI =
      """
      #!/bin/bash
      echo "${*: -1}" >>calls
      case "${*: -1}" in
        "status minimal")
          if [ -e database ]; then echo "The database is available."
          else echo "The database is unavailable; type \\`status' for more information."; fi ;;
        "configure new single ssd")
          if [ -e unreachable ]; then rm unreachable; exit 1; fi
          if [ -e database ]; then echo "ERROR: Database already exists!"; exit 1; fi
          touch database ;;
        *) exit 2 ;;
      esac
      """;

  private static final String STATUS = "status minimal";
  private static final String CONFIGURE = "configure new single ssd";

  @TempDir private Path folder;

  /** Returns what fdbcli was told to do. */
  private List<String> runSetup() throws IOException, InterruptedException {
    NodeClients.need(NodeClients.runs("bash", "--version"), "bash is not installed");
    Path fdbcli = Files.writeString(folder.resolve("fdbcli"), FDBCLI);
    assertThat(fdbcli.toFile().setExecutable(true)).isTrue();
    Files.deleteIfExists(folder.resolve("calls"));
    List<String> entrypoint =
        new ComposeFile("compose.yaml").service("foundationdb-setup").at("entrypoint").texts();
    assertThat(entrypoint.subList(0, 2)).containsExactly("/bin/bash", "-c");
    // Compose makes one of two dollars.
    ProcessBuilder bash =
        new ProcessBuilder("bash", "-c", entrypoint.get(2).replace("$$", "$"))
            .directory(folder.toFile())
            .inheritIO();
    bash.environment().merge("PATH", folder.toString(), (path, first) -> first + ":" + path);
    assertThat(bash.start().waitFor()).isZero();
    return Files.readAllLines(folder.resolve("calls"));
  }

  @Test
  void it_makes_a_database_and_ends_when_that_is_available() throws Exception {
    assertThat(runSetup()).containsExactly(STATUS, CONFIGURE, STATUS);
  }

  @Test
  void it_goes_on_until_the_cluster_answers() throws Exception {
    Files.createFile(folder.resolve("unreachable"));

    assertThat(runSetup()).containsExactly(STATUS, CONFIGURE, STATUS, CONFIGURE, STATUS);
  }

  @Test
  void it_leaves_a_database_that_there_is_alone() throws Exception {
    Files.createFile(folder.resolve("database"));

    assertThat(runSetup()).containsExactly(STATUS);
  }
}
