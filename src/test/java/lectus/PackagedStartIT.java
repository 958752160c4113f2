package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Archives of what the JVM has learnt of the packaged jar, and those that do not fit it. */
@Timeout(600)
final class PackagedStartIT {
  private static final int FIRST_WITH_CACHE = 25;

  /** These processes live for seconds, and compile for no longer. */
  private static final String QUICKLY = "-XX:TieredStopAtLevel=1";

  @TempDir private Path folder;

  private int run(Path jar, String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(TestJava.tool("java"), "-Xmx512m", QUICKLY, "-jar", jar.toString()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("said").toFile())
        .start()
        .waitFor();
  }

  /** Returns the first line on standard output of a server that takes an archive. */
  private String firstLine(Path jar, Path archive) throws Exception {
    String option =
        Runtime.version().feature() < FIRST_WITH_CACHE ? "-XX:SharedArchiveFile=" : "-XX:AOTCache=";
    Process server =
        new ProcessBuilder(
                TestJava.tool("java"),
                "-Xmx256m",
                QUICKLY,
                "-Xlog:disable",
                "-Xlog:all=warning:stderr",
                "-Xlog:class+load:file=" + folder.resolve("classes"),
                option + archive,
                "-jar",
                jar.toString(),
                "serve",
                "--port",
                "0",
                "--data",
                folder.resolve("data").toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      return String.valueOf(server.inputReader().readLine());
    } finally {
      server.toHandle().destroy();
      server.waitFor();
    }
  }

  private boolean wasMapped(String name) throws IOException {
    try (Stream<String> lines = Files.lines(folder.resolve("classes"))) {
      return lines
          .filter(line -> line.contains(" " + name + " "))
          .anyMatch(line -> line.contains("shared objects file"));
    }
  }

  @Test
  void a_start_maps_its_archive_and_goes_on_without_one_that_does_not_fit() throws Exception {
    Path jar = Files.copy(Path.of(System.getProperty("lectus.jar")), folder.resolve("lectus.jar"));
    Path archive = folder.resolve("lectus.archive");
    Files.writeString(archive, "a former one");

    assertThat(run(jar, "archive", archive.toString())).as(() -> said()).isZero();

    assertThat(said()).contains(archive + " is written.");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(it -> it.getFileName().toString()))
          .containsExactlyInAnyOrder("lectus.jar", "lectus.archive", "said");
    }
    assertThat(firstLine(jar, archive)).startsWith("Lectus listens on http://");
    assertThat(wasMapped("lectus.server.Node")).isTrue();

    Files.setLastModifiedTime(jar, FileTime.fromMillis(0));
    assertThat(firstLine(jar, archive)).startsWith("Lectus listens on http://");
    assertThat(wasMapped("lectus.server.Node")).isFalse();

    assertThat(firstLine(jar, folder.resolve("none"))).startsWith("Lectus listens on http://");
    Path junk = Files.writeString(folder.resolve("junk"), "no archive");
    assertThat(firstLine(jar, junk)).startsWith("Lectus listens on http://");
  }

  @Test
  void an_archive_that_cannot_be_written_is_one_sentence_and_leaves_nothing() throws Exception {
    Path nowhere = folder.resolve("nowhere").resolve("archive");

    assertThat(run(Path.of(System.getProperty("lectus.jar")), "archive", nowhere.toString()))
        .isEqualTo(1);

    assertThat(said().lines()).hasSize(1);
    assertThat(said()).startsWith("lectus: The archive " + nowhere + " cannot be written: ");
    assertThat(nowhere.getParent()).doesNotExist();
  }

  private String said() {
    try {
      return Files.readString(folder.resolve("said"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
