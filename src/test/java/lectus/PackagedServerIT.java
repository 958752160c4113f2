package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The packaged jar as a process of its own, as a newcomer starts it. */
@Timeout(120)
final class PackagedServerIT {
  /** What a process has as its exit status when SIGTERM ended it. */
  private static final int ENDED_BY_SIGTERM = 128 + 15;

  @TempDir private Path folder;

  private final List<Process> processes = new ArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void stop() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process start(String... flags) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-jar", System.getProperty("lectus.jar"), "serve"));
    command.addAll(List.of("--data", folder.resolve("data").toString()));
    Collections.addAll(command, flags);
    Process process =
        new ProcessBuilder(command).redirectError(complaintsOf(processes.size()).toFile()).start();
    processes.add(process);
    return process;
  }

  /** Where the process with this number says what went wrong. */
  private Path complaintsOf(int number) {
    return folder.resolve("complaints" + number);
  }

  /** The URL that the first line names, without the slash at its end. */
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

  @Test
  void a_data_folder_held_by_another_process_is_one_sentence() throws Exception {
    urlOf(start("--port", "0"));

    assertThat(start("--port", "0").waitFor()).isEqualTo(1);
    List<String> complaint = Files.readAllLines(complaintsOf(1));
    assertThat(complaint).hasSize(1);
    assertThat(complaint.get(0)).startsWith("lectus: ").contains("data");
  }

  @Test
  void an_address_beyond_loopback_is_announced() throws Exception {
    Process process = start("--port", "0", "--host", "0.0.0.0", "--allow-anonymous");

    assertThat(process.inputReader().readLine()).startsWith("Everybody who reaches 0.0.0.0");
  }
}
