package lectus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import lectus.cli.ServeCommand;
import lectus.server.testing.ClusterFile;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The packaged jar in a process of its own, started as in the README. */
final class PackagedServerIT {
  /** The exit status of a process that SIGTERM ended. */
  private static final int ENDED_BY_SIGTERM = 128 + 15;

  @TempDir private Path folder;

  private final List<Process> processes = new ArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();

  /** With V8 for the platform it was built on, some 15 MB. */
  private static final long MAX_BYTES = 105_000_000;

  private final Path jar = Path.of(System.getProperty("lectus.jar"));

  @AfterEach
  void stop() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Path data() {
    return folder.resolve("data");
  }

  private Process start(String... flags) throws IOException {
    return startOn(data(), flags);
  }

  private Process startOn(Path data, String... flags) throws IOException {
    return start(List.of(), data, flags);
  }

  private Process start(List<String> forJava, Path data, String... flags) throws IOException {
    List<String> command = TestJava.packaged(256, forJava.toArray(String[]::new));
    command.addAll(List.of("serve", "--data", data.toString()));
    Collections.addAll(command, flags);
    Process process =
        new ProcessBuilder(command).redirectError(complaintsOf(processes.size()).toFile()).start();
    processes.add(process);
    return process;
  }

  /** Returns the file with the standard error of the process with this number. */
  private Path complaintsOf(int number) {
    return folder.resolve("complaints" + number);
  }

  /** Returns the URL in the first line, without the slash at its end. */
  private static String urlOf(Process process) throws IOException {
    BufferedReader out = process.inputReader();
    String line = out.readLine();
    while (line != null && !line.startsWith("Lectus listens on ")) {
      line = out.readLine();
    }
    assertThat(line).isNotNull();
    return line.substring("Lectus listens on ".length(), line.length() - 1);
  }

  private HttpResponse<String> send(String method, String url, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .method(method, BodyPublishers.ofString(body))
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  @ParameterizedTest
  @CsvSource({
    "/_example/, page.js",
    "/_example/page.js, changes-socket.js",
    "/_lectus/, dashboard.js",
    "/_lectus/dashboard.js, figures.js"
  })
  void the_pages_are_in_the_jar(String path, String content) throws Exception {
    String url = urlOf(start("--port", "0"));
    HttpResponse<String> answer = send("GET", url + path, "");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains(content);
  }

  @Test
  void what_was_answered_is_there_after_a_restart() throws Exception {
    Process first = start("--port", "0");
    String url = urlOf(first);
    assertThat(send("GET", url + "/_up", "").statusCode()).isEqualTo(200);
    assertThat(send("PUT", url + "/w", "").statusCode()).isEqualTo(201);
    assertThat(send("PUT", url + "/w/a", "{\"v\":1}").statusCode()).isEqualTo(201);
    String uuid = send("GET", url + "/", "").body();

    // Process.destroy would close the streams that are read below.
    first.toHandle().destroy();
    assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(first.exitValue()).isEqualTo(ENDED_BY_SIGTERM);
    assertThat(complaintsOf(0)).isEmptyFile();

    String again = urlOf(start("--port", "0"));
    assertThat(send("GET", again + "/w/a", "").body()).contains("\"v\":1");
    assertThat(send("GET", again + "/", "").body()).isEqualTo(uuid);
  }

  /** Exit status 1, and one sentence on standard error: no stack trace, nothing before it. */
  private void assertRefused(String sentence, Path data, String... flags) throws Exception {
    assertRefused(1, sentence, data, flags);
  }

  private void assertRefused(int status, String sentence, Path data, String... flags)
      throws Exception {
    int number = processes.size();
    assertThat(startOn(data, flags).waitFor()).isEqualTo(status);
    assertThat(Files.readAllLines(complaintsOf(number)))
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith("lectus: ")
        .contains(sentence)
        .endsWith(".");
  }

  @Test
  void a_data_folder_held_by_another_process_is_one_sentence() throws Exception {
    Process holder = start("--port", "0");
    urlOf(holder);

    assertRefused(
        data() + " is in use by another process (pid " + holder.pid() + ").",
        data(),
        "--port",
        "0");
  }

  @Test
  void a_port_in_use_is_one_sentence() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());

      assertRefused(port + " is in use", data(), "--port", port);
    }
  }

  @Test
  void a_data_folder_that_cannot_be_made_is_one_sentence() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "content");

    assertRefused(" cannot be used: ", file.resolve("data"), "--port", "0");
    assertThat(file).hasContent("content");
  }

  @Test
  void a_data_folder_that_cannot_be_written_is_one_sentence() throws Exception {
    Files.createDirectory(data());
    Files.setPosixFilePermissions(data(), PosixFilePermissions.fromString("r-xr-xr-x"));
    assumeFalse(Files.isWritable(data()), "this user may write everywhere");

    assertRefused("cannot be read and written by this user", data(), "--port", "0");
    assertThat(data()).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lectus embedded store%nformat 2%n | written by a newer version of Lectus",
        "lectus embedded%n | is damaged: lectus.format is not readable"
      })
  void a_newer_or_damaged_data_folder_is_one_sentence_and_untouched(String format, String sentence)
      throws Exception {
    Files.createDirectories(data().resolve("rocks"));
    Files.writeString(data().resolve("rocks/CURRENT"), "MANIFEST-000001\n");
    Files.writeString(data().resolve("lectus.format"), String.format(format));
    Map<Path, String> before = contents(data());

    assertRefused(ServeCommand.REFUSED, sentence, data(), "--port", "0");
    assertThat(contents(data())).isEqualTo(before);
  }

  private static Map<Path, String> contents(Path root) throws IOException {
    Map<Path, String> contents = new TreeMap<>();
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.toList()) {
        contents.put(path, Files.isDirectory(path) ? "" : Files.readString(path));
      }
    }
    return contents;
  }

  @Test
  void an_address_beyond_loopback_is_announced() throws Exception {
    Process process = start("--port", "0", "--host", "0.0.0.0", "--allow-anonymous");

    BufferedReader out = process.inputReader();
    assertThat(out.readLine()).startsWith("Lectus listens on http://0.0.0.0:");
    assertThat(out.readLine()).startsWith("Version ");
    assertThat(out.readLine()).startsWith("Memory: ");
    assertThat(out.readLine()).startsWith("Everybody who reaches 0.0.0.0");
  }

  @Test
  void a_server_of_its_own_loads_nothing_of_hazelcast() throws Exception {
    Path loaded = folder.resolve("loaded");
    String url = urlOf(start(List.of("-Xlog:class+load:file=" + loaded), data(), "--port", "0"));
    assertThat(send("GET", url + "/_membership", "").statusCode()).isEqualTo(200);

    assertThat(Files.readString(loaded))
        .contains("io.vertx.core.Vertx ")
        .doesNotContainIgnoringCase("hazelcast");
  }

  @Test
  void members_of_a_cluster_find_each_other_and_leave_in_order() throws Exception {
    String file = ClusterFile.write(folder).toString();
    Process first = start("--port", "0", "--cluster", "--cluster-config", file);
    BufferedReader out = first.inputReader();
    String urlOfFirst = urlOf(first);
    assertThat(out.readLine()).startsWith("Version ");
    assertThat(out.readLine()).startsWith("Memory: ");
    assertThat(out.readLine()).startsWith("This member of the cluster keeps data of its own");
    assertThat(send("GET", urlOfFirst + "/_membership", "").body()).contains("lectus@127.0.0.1:");
    Process second =
        startOn(folder.resolve("other"), "--port", "0", "--cluster", "--cluster-config", file);
    String urlOfSecond = urlOf(second);
    assertThat(members(urlOfSecond)).hasSize(2).isEqualTo(members(urlOfFirst));

    second.toHandle().destroy();
    assertThat(second.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(second.exitValue()).isEqualTo(ENDED_BY_SIGTERM);
    Await.until("one member is left", () -> members(urlOfFirst).size() == 1);
    first.toHandle().destroy();
    assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(complaintsOf(0)).isEmptyFile();
    assertThat(complaintsOf(1)).isEmptyFile();
  }

  private List<String> members(String url) {
    String json =
        client
            .sendAsync(
                HttpRequest.newBuilder(URI.create(url + "/_membership")).build(),
                BodyHandlers.ofString())
            .join()
            .body();
    String all = json.substring(json.indexOf('[') + 1, json.indexOf(']'));
    return List.of(all.split(","));
  }

  @Test
  void it_has_the_native_libraries_of_the_platforms_that_are_carried() throws IOException {
    try (JarFile content = new JarFile(jar.toFile())) {
      assertThat(
              content.stream().map(ZipEntry::getName).filter(it -> it.startsWith("librocksdbjni")))
          .containsExactlyInAnyOrder(
              "librocksdbjni-linux64.so",
              "librocksdbjni-linux64-musl.so",
              "librocksdbjni-linux-aarch64.so",
              "librocksdbjni-linux-aarch64-musl.so",
              "librocksdbjni-osx-x86_64.jnilib",
              "librocksdbjni-osx-arm64.jnilib",
              "librocksdbjni-win64.dll");
    }
  }

  @Test
  void it_stays_small() throws IOException {
    assertThat(Files.size(jar)).isLessThan(MAX_BYTES);
  }
}
