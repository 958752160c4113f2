package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.cli.ServeCommand;
import lectus.http.testing.Answer;
import lectus.http.testing.FreePorts;
import lectus.http.testing.Request;
import lectus.server.testing.ClusterFile;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packaged jar as the image starts it, with the environment of docker/compose.yaml. Only
 * addresses are others, because all members are on one machine, and each has a store of its own.
 */
final class PackagedClusterIT {
  /** The third one would show nothing more. */
  private static final int MEMBERS = 2;

  /** The exit status of a process that SIGTERM ended. */
  private static final int ENDED_BY_SIGTERM = 128 + 15;

  private static final Pattern LISTENING =
      Pattern.compile("Lectus listens on http://0\\.0\\.0\\.0:(\\d+)/");

  private static final String PASSWORD = "the password of the test";

  @TempDir private Path folder;

  private final List<Process> processes = new ArrayList<>();
  private final Dockerfile image;
  private final ComposeFile compose;

  PackagedClusterIT() throws IOException {
    image = Dockerfile.read();
    compose = new ComposeFile("compose.yaml");
  }

  @AfterEach
  void stop() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process start(String service, Path cluster, Map<String, String> secrets)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(TestJava.tool("java")));
    // As the image's launcher does it, but for the cache, which only the image has.
    Files.readAllLines(Path.of("conf", "jvm.options")).stream()
        .filter(line -> line.startsWith("-"))
        .forEach(command::add);
    command.addAll(List.of("-jar", System.getProperty("lectus.jar")));
    command.addAll(image.last("CMD").words());
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(folder.resolve(service + ".err").toFile());
    Map<String, String> environment = builder.environment();
    environment.putAll(image.environment());
    environment.putAll(compose.environment(service));
    environment.remove("COUCHDB_PASSWORD_FILE");
    environment.putAll(secrets);
    environment.put("LECTUS_PORT", "0");
    environment.put("LECTUS_STORE", "embedded");
    environment.remove("LECTUS_CLUSTER_FILE");
    environment.put("LECTUS_DATA", folder.resolve(service).toString());
    environment.put("LECTUS_ADDRESS_FILE", folder.resolve(service + ".address").toString());
    environment.put("LECTUS_CLUSTER_CONFIG", cluster.toString());
    environment.put("LECTUS_CLUSTER_EVENT_PORT", "0");
    environment.put("LECTUS_METRICS_PORT", Integer.toString(FreePorts.one()));
    Process process = builder.start();
    processes.add(process);
    return process;
  }

  private static int portOf(Process process) throws IOException {
    BufferedReader out = process.inputReader();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      Matcher listening = LISTENING.matcher(line);
      if (listening.find()) {
        return Integer.parseInt(listening.group(1));
      }
    }
    throw new AssertionError("It did not start");
  }

  private static Answer asAdmin(int port, String method, String target) {
    String credentials =
        Base64.getEncoder().encodeToString(("admin:" + PASSWORD).getBytes(StandardCharsets.UTF_8));
    return new Request(port, method, target).header("Authorization", "Basic " + credentials).send();
  }

  private static long members(int port) {
    String answer = asAdmin(port, "GET", "/_membership").body();
    return Pattern.compile("lectus@").matcher(answer.split("cluster_nodes")[0]).results().count();
  }

  @Test
  void the_servers_of_the_compose_file_form_a_cluster_and_leave_it_in_order() throws Exception {
    Path cluster = ClusterFile.write(folder);
    Map<String, String> secrets = Map.of("COUCHDB_USER", "admin", "COUCHDB_PASSWORD", PASSWORD);
    List<Integer> ports = new ArrayList<>();
    // One after the other: they do not wait for others before they form a cluster, as tests want
    // it.
    for (String service : compose.servers().subList(0, MEMBERS)) {
      ports.add(portOf(start(service, cluster, secrets)));
    }
    for (int port : ports) {
      new Request(port, "GET", "/_up").send().expect(200);
      new Request(port, "PUT", "/w").send().expect(401);
      asAdmin(port, "PUT", "/w").expect(201);
      Await.until("all are members", () -> members(port) == MEMBERS);
    }

    Process leaving = processes.get(0);
    // Process.destroy would close the streams.
    leaving.toHandle().destroy();
    assertThat(leaving.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(leaving.exitValue()).isEqualTo(ENDED_BY_SIGTERM);
    Await.until("it is gone from the list", () -> members(ports.get(1)) == MEMBERS - 1);
  }

  @Test
  void without_a_password_a_server_of_the_compose_file_says_what_is_missing() throws Exception {
    Process process =
        start(
            "lectus-1",
            ClusterFile.write(folder),
            Map.of("COUCHDB_USER", "admin", "COUCHDB_PASSWORD", ""));

    assertThat(process.waitFor()).isEqualTo(ServeCommand.REFUSED);
    assertThat(complaints("lectus-1")).contains("lectus: The admin that COUCHDB_USER");
  }

  private String complaints(String service) {
    try {
      return Files.readString(folder.resolve(service + ".err"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
