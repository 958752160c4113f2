package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lectus.Lectus;
import lectus.cli.Console;
import lectus.clients.NodeClients;
import lectus.config.ListenKeys;
import lectus.config.StoreKeys;
import lectus.deployment.Dockerfile.Instruction;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestJava;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The image, as far as that goes without building it. */
@Timeout(60)
final class DockerfileTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String DATA = "/var/lib/lectus/data";

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
    List<String> command = new ArrayList<>(command());
    command.replaceAll(word -> word.equals(DATA) ? folder.resolve("data").toString() : word);
    StringWriter complaints = new StringWriter();
    Console console = new Console(new PrintWriter(new StringWriter()), new PrintWriter(complaints));

    assertThat(Lectus.run(command.toArray(String[]::new), Map.of(), console)).isEqualTo(78);
    assertThat(complaints.toString()).contains("because there is no admin yet", "COUCHDB_USER");
  }

  @Test
  void a_variable_lets_it_start_without_an_admin() {
    assertThat(Served.by(command(), Map.of()).needsAnAdmin()).isTrue();
    assertThat(Served.by(command(), Map.of("LECTUS_ALLOW_ANONYMOUS", "true")).needsAnAdmin())
        .isFalse();
  }

  @Test
  void its_command_serves_the_exposed_port_from_the_volume() {
    Served served = Served.by(command(), Map.of());

    served.assertUsable();
    assertThat(file.last("EXPOSE").text()).isEqualTo(served.get(ListenKeys.PORT).toString());
    assertThat(file.last("VOLUME").text()).isEqualTo(served.get(StoreKeys.DATA)).isEqualTo(DATA);
  }

  /** A volume takes over the owner of the folder that it is mounted on. */
  @Test
  void its_user_is_not_root_and_owns_the_volume() {
    assertThat(file.last("USER").text()).isEqualTo("5984:5984");
    assertThat(file.all("RUN").map(Instruction::text))
        .anyMatch(
            run ->
                run.contains("groupadd --system --gid 5984 lectus")
                    && run.contains("useradd --system --uid 5984 --gid 5984 ")
                    && run.endsWith("install -d -o lectus -g lectus -m 0700 " + DATA));
  }

  /** Otherwise a shell would get the signal that is meant for the server. */
  @Test
  void java_is_its_first_process() {
    assertThat(file.last("ENTRYPOINT").words())
        .startsWith("java")
        .endsWith("-jar", "/opt/lectus/lectus.jar");
    assertThat(file.all("STOPSIGNAL")).isEmpty();
  }

  @Test
  void a_machine_that_runs_these_tests_takes_its_flags_of_the_jvm() throws Exception {
    List<String> words = file.last("ENTRYPOINT").words();
    List<String> flags = new ArrayList<>(words.subList(1, words.indexOf("-jar")));
    flags.add(heap().replaceFirst("JDK_JAVA_OPTIONS=\"(.*)\"", "$1"));
    // A machine with a JDK before 25 does not know it.
    assertThat(flags.removeIf(flag -> flag.startsWith("-XX:AOTCache="))).isTrue();
    assertThat(flags).contains("-XX:+ExitOnOutOfMemoryError").anyMatch(it -> it.startsWith("-Xmx"));
    flags.add(0, TestJava.tool("java"));
    flags.add("-version");

    Process java = new ProcessBuilder(flags).redirectErrorStream(true).start();
    assertThat(java.inputReader().lines()).anyMatch(line -> line.contains("version"));
    assertThat(java.waitFor()).isZero();
  }

  private String heap() {
    return file.all("ENV")
        .map(Instruction::text)
        .filter(it -> it.startsWith("JDK_JAVA_OPTIONS="))
        .findFirst()
        .orElseThrow();
  }

  /** The server is trained with what it is started with. */
  @Test
  void its_cache_is_where_its_server_looks_for_it() {
    assertThat(file.all("RUN").map(Instruction::text))
        .anyMatch(
            it ->
                it.startsWith("java -jar /opt/lectus/lectus.jar archive /opt/lectus/lectus.aot "));
    assertThat(file.last("ENTRYPOINT").words()).contains("-XX:AOTCache=/opt/lectus/lectus.aot");
    assertThat(Lectus.run(new String[] {"archive", "--help"}, Map.of(), nowhere())).isZero();
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
    String version = file.last("ARG").text().replace("FDB_VERSION=", "");

    assertThat(Files.readString(Path.of("pom.xml")))
        .contains("<fdb.version>" + version + "</fdb.version>");
  }

  @Test
  void its_health_check_tells_a_server_that_is_up_from_one_that_is_not() throws Exception {
    NodeClients.need(NodeClients.runs("curl", "--version"), "curl is not installed");
    LectusServer server = LectusServer.start(stores.fresh());
    int port = server.port();
    try {
      assertThat(healthOf(port)).isZero();
    } finally {
      server.close();
    }
    assertThat(healthOf(port)).isEqualTo(1);
  }

  private int healthOf(int port) throws IOException, InterruptedException {
    String command = file.last("HEALTHCHECK").text().replaceFirst(".*? CMD ", "");
    ProcessBuilder shell = new ProcessBuilder("sh", "-c", command);
    shell.environment().put("LECTUS_PORT", Integer.toString(port));
    return shell.inheritIO().start().waitFor();
  }
}
