package lectus.deployment;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.store.testing.Await;

/**
 * A real Prometheus that reads servers five times a second, found on the path. Without it tests are
 * skipped.
 */
final class Prometheus implements AutoCloseable {
  private static final String CONFIGURATION =
      """
      global: { scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms }
      rule_files: [ rules.yaml ]
      scrape_configs:
        - job_name: lectus
          metrics_path: /_node/_local/_prometheus
          tls_config: { insecure_skip_verify: true }
          file_sd_configs: [ { files: [ targets.json ], refresh_interval: 1s } ]
      """;

  private final HttpClient client = HttpClient.newHttpClient();
  private final Path folder;
  private final int port = freePort();
  private final JsonArray targets = new JsonArray();
  private final Process process;

  private Prometheus(String program, Path folder, String rules) throws IOException {
    this.folder = folder;
    Files.writeString(folder.resolve("prometheus.yaml"), CONFIGURATION);
    Files.writeString(folder.resolve("rules.yaml"), rules);
    Files.writeString(folder.resolve("targets.json"), "[]");
    this.process =
        new ProcessBuilder(
                program,
                "--config.file=" + folder.resolve("prometheus.yaml"),
                "--storage.tsdb.path=" + folder.resolve("tsdb"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    Await.until("Prometheus is ready", this::isReady);
  }

  /**
   * @param rules as YAML
   */
  static Prometheus start(Path folder, String rules) throws IOException {
    Optional<String> program = program();
    assumeTrue(program.isPresent(), "Prometheus is not installed");
    return new Prometheus(program.get(), folder, rules);
  }

  private static Optional<String> program() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "prometheus"))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst();
  }

  static int freePort() {
    try (ServerSocket any = new ServerSocket(0)) {
      return any.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean isReady() {
    if (!process.isAlive()) {
      throw new AssertionError("Prometheus ended: " + folder.resolve("log"));
    }
    try {
      return get("/-/ready").statusCode() == 200;
    } catch (UncheckedIOException notYet) {
      return false;
    }
  }

  /** Reads a server on this port from now on. */
  void watch(int server) {
    watch(server, new JsonObject());
  }

  /**
   * @param labels that say how it is read, such as {@code __scheme__}
   */
  synchronized void watch(int server, JsonObject labels) {
    targets.add(
        new JsonObject()
            .put("targets", new JsonArray().add("127.0.0.1:" + server))
            .put("labels", labels));
    try {
      Path next = folder.resolve("next.json");
      Files.writeString(next, targets.encode());
      Files.move(next, folder.resolve("targets.json"), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the names of the alerts that fire for a server. */
  List<String> firing(int server) {
    JsonObject answer = new JsonObject(get("/api/v1/alerts").body());
    return answer.getJsonObject("data").getJsonArray("alerts").stream()
        .map(JsonObject.class::cast)
        .filter(alert -> alert.getString("state").equals("firing"))
        .map(alert -> alert.getJsonObject("labels"))
        .filter(labels -> labels.getString("instance").equals("127.0.0.1:" + server))
        .map(labels -> labels.getString("alertname"))
        .toList();
  }

  /** Returns the series that an expression has now. */
  JsonArray query(String expression) {
    String query = URLEncoder.encode(expression, StandardCharsets.UTF_8);
    JsonObject answer = new JsonObject(get("/api/v1/query?query=" + query).body());
    if (!"success".equals(answer.getString("status"))) {
      throw new AssertionError(expression + ": " + answer.encode());
    }
    return answer.getJsonObject("data").getJsonArray("result");
  }

  private HttpResponse<String> get(String target) {
    try {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + target)).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
