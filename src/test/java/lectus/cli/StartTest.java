package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.testing.Request;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;
import org.assertj.core.data.Index;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a server says from its start to its end, on each of its streams. */
final class StartTest {
  private static final Pattern LISTENING = Pattern.compile("Lectus listens on http://\\S+:(\\d+)/");

  @TempDir private Path folder;

  private Process server;

  @AfterEach
  void end() throws InterruptedException {
    if (server != null) {
      server.destroyForcibly().waitFor();
    }
  }

  private int start(List<String> forJava, String... flags) throws IOException {
    List<String> command = TestJava.command(128, forJava.toArray(String[]::new));
    command.addAll(List.of("lectus.Lectus", "serve", "--port", "0", "--data", data().toString()));
    command.addAll(List.of(flags));
    server =
        new ProcessBuilder(command)
            .redirectOutput(folder.resolve("out").toFile())
            .redirectError(folder.resolve("err").toFile())
            .start();
    Await.until("it listens", () -> !server.isAlive() || port().isPresent());
    return port().orElseThrow();
  }

  private Optional<Integer> port() {
    return lines("out").stream()
        .map(LISTENING::matcher)
        .filter(Matcher::matches)
        .map(line -> Integer.valueOf(line.group(1)))
        .findFirst();
  }

  private Path data() {
    return folder.resolve("data");
  }

  private List<String> lines(String stream) {
    try {
      return Files.readAllLines(folder.resolve(stream));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void stop() throws InterruptedException {
    server.toHandle().destroy();
    assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void the_first_line_is_the_address_and_the_last_says_that_it_has_stopped() throws Exception {
    int port = start(List.of(), "--host", "0.0.0.0", "--allow-anonymous");
    String url = "http://0.0.0.0:" + port + "/";
    Path maps = Path.of("/proc", Long.toString(server.pid()), "maps");
    if (Files.exists(maps)) {
      assertThat(Files.readAllLines(maps))
          .as("the library that starts have in common is the one that is used")
          .anyMatch(it -> it.matches(".*/rocksdb-[0-9a-f]{8}/librocksdb.*"));
    }
    Await.until("it has said all", () -> lines("out").size() > 3);
    assertThat(lines("out"))
        .startsWith(
            "Lectus listens on " + url,
            "Version development, data in " + data() + ", dashboard at " + url + "_lectus/")
        .satisfies(line -> assertThat(line).startsWith("Memory: "), Index.atIndex(2))
        .contains(
            "Everybody who reaches 0.0.0.0 can read, write and delete everything.",
            Index.atIndex(3));
    stop();
    assertThat(lines("out")).contains("Lectus stops").endsWith("Lectus has stopped");
    assertThat(lines("err")).allMatch(StartTest::isOfASlowMachine);

    // This start has something to warn of before it listens.
    Files.setPosixFilePermissions(data(), PosixFilePermissions.fromString("rwxr-xr-x"));
    start(List.of());
    assertThat(lines("err"))
        .anyMatch(it -> it.contains("Other users of this machine may enter the data directory"));
    assertThat(lines("out").get(0)).startsWith("Lectus listens on ");
    stop();
    assertThat(lines("out")).endsWith("Lectus has stopped");
  }

  /** Vert.x warns of an event loop that has waited for a processor for seconds. */
  private static boolean isOfASlowMachine(String line) {
    return line.contains("BlockedThreadChecker") || line.matches("\\tat .*|io\\.vertx\\..*");
  }

  @Test
  void a_configuration_of_the_log_of_ones_own_has_the_last_word() throws Exception {
    Path own =
        Files.writeString(
            folder.resolve("own.xml"),
            """
            <configuration>
              <conversionRule conversionWord="fields" class="lectus.metrics.EventFields"/>
              <appender name="MINE" class="ch.qos.logback.core.ConsoleAppender">
                <encoder><pattern>mine %fields%msg</pattern></encoder>
              </appender>
              <root level="INFO"><appender-ref ref="MINE"/></root>
            </configuration>
            """);
    int port = start(List.of("-Dlogback.configurationFile=" + own), "--set", "http.hosts=host");
    new Request(port, "GET", "/_up").send().expect(200);
    Await.until(
        "it is logged", () -> lines("out").stream().anyMatch(it -> it.startsWith("mine 2")));
  }
}
