package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.cli.ServeCommand;
import lectus.clients.NodeClients;
import lectus.config.HttpKeys;
import lectus.config.StoreKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The units of systemd. */
final class SystemdUnitTest {
  private static final Path UNIT = Path.of("conf", "lectus.service");

  /** As systemd says what a service could do to its machine, in tenths; 100 is everything. */
  private static final int MAX_EXPOSURE = 20;

  /** The first version that judges a file. */
  private static final int OLDEST = 250;

  private static final Pattern VERSION = Pattern.compile("systemd (\\d+)");
  private static final int BEYOND_REQUESTS_SECONDS = 60;
  private static final Pattern SOURCE = Pattern.compile("install .* ((?:conf|docker)/\\S+) /etc");

  private static final Path BACKUP = Path.of("conf", "lectus-backup.service");
  private static final Path TIMER = Path.of("conf", "lectus-backup.timer");

  private final List<String> lines;

  SystemdUnitTest() throws IOException {
    lines = Files.readAllLines(UNIT);
  }

  private String value(String name) {
    return value(lines, name);
  }

  private static String value(List<String> lines, String name) {
    return lines.stream()
        .filter(line -> line.startsWith(name + "="))
        .map(line -> line.substring(name.length() + 1))
        .findFirst()
        .orElseThrow(() -> new AssertionError("There is no " + name));
  }

  private List<String> command() {
    return List.of(value("ExecStart").split(" "));
  }

  private Served served() {
    List<String> words = command();
    List<String> serve = new ArrayList<>(words.subList(words.indexOf("serve"), words.size()));
    serve.replaceAll(word -> word.replace("/etc/lectus/", "conf/"));
    return Served.by(serve, Map.of());
  }

  @Test
  void its_command_takes_the_configuration_that_is_delivered() {
    served().assertUsable();
    assertThat(command())
        .containsExactly("/usr/bin/lectus", "serve", "--config", "/etc/lectus/lectus.conf");
  }

  @Test
  void its_data_is_in_the_folder_that_it_may_write() {
    assertThat(value("WorkingDirectory")).isEqualTo("/var/lib/" + value("StateDirectory"));
    assertThat(served().get(StoreKeys.DATA)).isEqualTo("data");
    assertThat(value("User")).isEqualTo("lectus");
  }

  @Test
  void it_has_time_to_stop_in_order_and_that_is_no_failure() {
    assertThat(Integer.parseInt(value("TimeoutStopSec")))
        .isGreaterThan(served().get(HttpKeys.STOP_SECONDS) + BEYOND_REQUESTS_SECONDS);
    assertThat(value("SuccessExitStatus")).isEqualTo("143");
    assertThat(value("RestartPreventExitStatus")).isEqualTo(Integer.toString(ServeCommand.REFUSED));
  }

  @Test
  void what_its_head_says_to_install_is_there() {
    assertThat(lines.stream().flatMap(line -> SOURCE.matcher(line).results()))
        .hasSize(3)
        .allMatch(source -> Files.exists(Path.of(source.group(1))));
  }

  @Test
  void backups_are_kept_where_their_unit_may_write() throws IOException {
    List<String> unit = Files.readAllLines(BACKUP);
    List<String> words = List.of(value(unit, "ExecStart").split(" "));

    assertThat(
            Served.backup(words.subList(1, words.size())).matchedOptionValue("--to", Path.of("")))
        .isEqualTo(Path.of("/var/lib", value(unit, "StateDirectory")));
    assertThat(words.get(0)).isEqualTo(command().get(0));
    assertThat(value(unit, "EnvironmentFile")).isEqualTo("/etc/lectus/lectus.env");
  }

  @ParameterizedTest
  @ValueSource(strings = {"lectus.service", "lectus-backup.service"})
  void systemd_understands_it_and_finds_it_confined(String name) throws Exception {
    Path unit = Path.of("conf", name);
    assumeTrue(NodeClients.runs("systemd-analyze", "--version"), "systemd is not installed");
    Matcher version = VERSION.matcher(output("systemd-analyze", "--version"));
    assumeTrue(
        version.find() && Integer.parseInt(version.group(1)) >= OLDEST, "systemd is too old");

    assertThat(output("systemd-analyze", "verify", unit.toString(), TIMER.toString()).lines())
        .filteredOn(line -> !line.contains("/usr/bin/lectus is not executable"))
        .noneMatch(line -> line.contains(unit.getFileName() + ":"))
        .noneMatch(line -> line.contains(TIMER.getFileName() + ":"));
    assertThat(
            output(
                "systemd-analyze",
                "security",
                "--offline=true",
                "--no-pager",
                "--threshold=" + MAX_EXPOSURE,
                unit.toString()))
        .contains("Overall exposure level for " + name)
        .contains(" OK ");
  }

  private static String output(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }
}
