package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lectus.Lectus;
import lectus.cli.Console;
import lectus.config.ListenKeys;
import lectus.config.StoreKeys;
import lectus.deployment.Dockerfile.Instruction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The image, as far as that goes without building it. */
final class DockerfileTest {
  private static final String DATA = "/var/lib/lectus/data";
  private static final Path LAUNCHER = Path.of("conf", "lectus.sh");

  @TempDir private Path folder;

  private final Dockerfile file;

  DockerfileTest() throws IOException {
    file = Dockerfile.read();
  }

  private List<String> command() {
    return file.last("CMD").words();
  }

  @Test
  void without_an_admin_it_refuses_to_start() {
    Map<String, String> environment = file.environment();
    environment.put("LECTUS_DATA", folder.resolve("data").toString());
    StringWriter complaints = new StringWriter();
    Console console = new Console(new PrintWriter(new StringWriter()), new PrintWriter(complaints));

    assertThat(Lectus.run(command().toArray(String[]::new), environment, console)).isEqualTo(78);
    assertThat(complaints.toString()).contains("because there is no admin yet", "COUCHDB_USER");
  }

  @Test
  void a_variable_lets_it_start_without_an_admin() {
    Map<String, String> environment = file.environment();
    assertThat(Served.by(command(), environment).needsAnAdmin()).isTrue();
    environment.put("LECTUS_ALLOW_ANONYMOUS", "true");
    assertThat(Served.by(command(), environment).needsAnAdmin()).isFalse();
  }

  @Test
  void it_serves_the_exposed_port_from_the_volume_with_other_arguments_too() {
    assertThat(command()).containsExactly("serve");
    List<String> other = List.of("serve", "--cors-origin", "https://app.example");
    for (List<String> arguments : List.of(command(), other)) {
      Served served = Served.by(arguments, file.environment());
      served.assertUsable();
      assertThat(served.get(ListenKeys.HOST)).isEqualTo("0.0.0.0");
      assertThat(file.last("EXPOSE").text()).isEqualTo(served.get(ListenKeys.PORT).toString());
      assertThat(file.last("VOLUME").text()).isEqualTo(served.get(StoreKeys.DATA)).isEqualTo(DATA);
    }
    assertThat(file.environment()).containsEntry("LANG", "C.UTF-8");
  }

  /** A volume takes over the owner of the folder that it is mounted on. */
  @Test
  void its_user_is_not_root_and_others_without_a_name_write_by_their_group() {
    assertThat(file.last("USER").text()).isEqualTo("5984:5984");
    assertThat(file.all("RUN").map(Instruction::text))
        .anyMatch(
            run ->
                run.contains("groupadd --system --gid 5984 lectus")
                    && run.contains("useradd --system --uid 5984 --gid 5984 ")
                    && run.contains("install -d -m 0755 /var/lib/lectus ")
                    && run.endsWith("install -d -o lectus -g 0 -m 0770 " + DATA));
  }

  /** Otherwise a shell would get the signal that is meant for the server. */
  @Test
  void java_becomes_its_first_process() throws IOException {
    assertThat(file.last("ENTRYPOINT").words()).containsExactly("lectus");
    assertThat(Files.readAllLines(LAUNCHER))
        .startsWith("#!/bin/sh")
        .last()
        .asString()
        .startsWith("exec ")
        .contains("java\" @/opt/lectus/jvm.options ")
        .endsWith(" -jar /opt/lectus/lectus.jar \"$@\"");
    assertThat(file.all("STOPSIGNAL")).isEmpty();
  }

  /** Java itself names the variable on standard error. */
  @Test
  void its_command_takes_options_from_the_environment_and_says_nothing_of_it() throws Exception {
    String here =
        Files.readString(LAUNCHER)
            .replace("/opt/lectus/jvm.options", Path.of("conf/jvm.options").toAbsolutePath() + "")
            .replace("-jar /opt/lectus/lectus.jar", "-cp \"$CP\" lectus.Lectus");
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", here, "lectus", "--version").redirectErrorStream(true);
    builder.environment().put("CP", System.getProperty("java.class.path"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("JDK_JAVA_OPTIONS", "-Xmx64m -XX:+PrintCommandLineFlags");
    Process process = builder.start();

    assertThat(process.inputReader().lines())
        .hasSize(2)
        .anyMatch(
            line -> line.contains("MaxHeapSize=67108864") && line.contains("MaxRAMPercentage"))
        .anyMatch(line -> line.startsWith("Lectus "));
    assertThat(process.waitFor()).isZero();
  }

  /**
   * The server is trained with what it is started with. Java complains of a cache that is absent.
   */
  @Test
  void its_cache_is_where_its_server_looks_for_it_and_is_named_only_if_it_is_there()
      throws Exception {
    String cache = "/opt/lectus/lectus.aot";
    assertThat(file.all("RUN").map(Instruction::text))
        .anyMatch(it -> it.contains("&& lectus archive " + cache + " "));
    assertThat(Files.readAllLines(Path.of("conf", "jvm.options")))
        .contains("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+ExitOnOutOfMemoryError");
    assertThat(Lectus.run(new String[] {"archive", "--help"}, Map.of(), nowhere())).isZero();

    Path here = folder.resolve("cache");
    String launcher = Files.readString(LAUNCHER);
    assertThat(launcher).contains("archive=" + cache + "\n");
    String shown = launcher.replace(cache, here.toString()).replace("exec ", "echo ");
    assertThat(said(shown)).doesNotContain("AOTCache");
    Files.createFile(here);
    assertThat(said(shown)).contains(" -XX:AOTCache=" + here + " -Xmx1g ");
  }

  private static String said(String script) throws IOException {
    ProcessBuilder shell = new ProcessBuilder("sh", "-c", script);
    shell.environment().put("JDK_JAVA_OPTIONS", "-Xmx1g");
    return shell.start().inputReader().readLine();
  }

  private static Console nowhere() {
    return new Console(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()));
  }

  @Test
  void what_it_copies_is_there() throws IOException {
    assertThat(file.all("COPY").map(copy -> copy.text().split(" ")[0]))
        .contains("target/lectus.jar", "conf/", "--from=foundationdb")
        .allMatch(
            source ->
                source.startsWith("--from=")
                    || source.startsWith("target/")
                    || Files.exists(Path.of(source)),
            "is there");
    assertThat(Files.readString(Path.of("pom.xml"))).contains("<finalName>lectus</finalName>");
  }

  /** What is copied is sent to the builder, and secrets are not. */
  @Test
  void the_builder_gets_what_is_copied_and_nothing_else() throws IOException {
    List<String> sent =
        Files.readAllLines(Path.of(".dockerignore")).stream()
            .filter(line -> line.startsWith("!"))
            .map(line -> line.substring(1))
            .toList();

    assertThat(Files.readAllLines(Path.of(".dockerignore"))).contains("*");
    assertThat(
            file.all("COPY")
                .map(copy -> copy.text().split(" ")[0])
                .filter(source -> !source.startsWith("--"))
                .map(source -> source.replaceFirst("/$", "")))
        .containsExactlyInAnyOrderElementsOf(sent);
  }

  /** A client of another version of the protocol would not reach the cluster. */
  @Test
  void its_client_library_is_of_the_version_that_lectus_is_built_with() throws IOException {
    String version = file.argument("FDB_VERSION");

    assertThat(Files.readString(Path.of("pom.xml")))
        .contains("<fdb.version>" + version + "</fdb.version>");
  }

  /** HealthCommandTest has what the command says. */
  @Test
  void its_health_check_is_a_command_that_knows_where_the_server_is() {
    assertThat(file.last("HEALTHCHECK").text()).endsWith(" CMD [\"lectus\", \"health\"]");
    assertThat(file.environment()).containsEntry("LECTUS_ADDRESS_FILE", "/tmp/lectus.address");
    assertThat(Lectus.run(new String[] {"health", "--help"}, Map.of(), nowhere())).isZero();
  }
}
