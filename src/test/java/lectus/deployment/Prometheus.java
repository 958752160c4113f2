package lectus.deployment;

import static java.util.stream.Collectors.joining;
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
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.store.testing.Await;

/**
 * A real Prometheus that reads servers five times a second, found on the path. Without it tests are
 * skipped.
 */
final class Prometheus implements AutoCloseable {
  /** It waits five seconds before it reads a place of which it is told later. */
  private static final String CONFIGURATION =
      """
      global: { scrape_interval: 400ms, scrape_timeout: 400ms, evaluation_interval: 400ms }
      rule_files: [ rules.yaml ]
      scrape_configs:
        - job_name: lectus
          metrics_path: /_node/_local/_prometheus
          tls_config: { insecure_skip_verify: true }
          static_configs:
      """;

  /** Below those that the system gives to clients, so that they stay free. */
  private static final int LOWEST_PORT = 20_000;

  private static final int PORTS = 10_000;
  private static final int FEW = 3;

  /** How a server is read. */
  enum Way {
    REQUESTS(""),
    TLS("__scheme__: https"),
    METRICS_PORT("__metrics_path__: /metrics");

    private final String labels;

    Way(String labels) {
      this.labels = labels;
    }
  }

  private final HttpClient client = HttpClient.newHttpClient();
  private final Path folder;
  private final int port = freePort();
  private final Map<Way, Deque<Integer>> places = new EnumMap<>(Way.class);
  private final Process process;

  private Prometheus(String program, Path folder, String rules, int most) throws IOException {
    this.folder = folder;
    for (Way way : Way.values()) {
      int count = way == Way.REQUESTS ? most : FEW;
      places.put(
          way, new ArrayDeque<>(IntStream.range(0, count).mapToObj(i -> freePort()).toList()));
    }
    Files.writeString(folder.resolve("prometheus.yaml"), CONFIGURATION + targets());
    Files.writeString(folder.resolve("rules.yaml"), rules);
    this.process =
        new ProcessBuilder(
                program,
                "--config.file=" + folder.resolve("prometheus.yaml"),
                "--storage.tsdb.path=" + folder.resolve("tsdb"),
                "--scrape.discovery-reload-interval=100ms",
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    Await.until("Prometheus is ready", this::isReady);
  }

  /**
   * @param rules as YAML
   * @param most servers that are read as by their clients; a few can be read in each other way
   */
  static Prometheus start(Path folder, String rules, int most) throws IOException {
    Optional<String> program = program();
    assumeTrue(program.isPresent(), "Prometheus is not installed");
    return new Prometheus(program.get(), folder, rules, most);
  }

  private static Optional<String> program() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "prometheus"))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst();
  }

  private String targets() {
    StringBuilder text = new StringBuilder();
    places.forEach(
        (way, ports) -> {
          String all =
              ports.stream().map(Prometheus::instance).collect(joining("\", \"", "\"", "\""));
          text.append(
              "      - { targets: [ %s ], labels: { %s } }\n"
                  .formatted(
                      all,
                      Stream.of("app_kubernetes_io_name: lectus", way.labels)
                          .filter(label -> !label.isEmpty())
                          .collect(joining(", "))));
        });
    return text.toString();
  }

  private static String instance(int port) {
    return "127.0.0.1:" + port;
  }

  private static int freePort() {
    for (int port :
        ThreadLocalRandom.current().ints(LOWEST_PORT, LOWEST_PORT + PORTS).limit(PORTS).toArray()) {
      try (ServerSocket free = new ServerSocket(port)) {
        return free.getLocalPort();
      } catch (IOException taken) {
        continue;
      }
    }
    throw new AssertionError("No port is free");
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

  /**
   * Returns a port that is read in this way; each once. Until somebody listens there it is down.
   */
  synchronized int place(Way way) {
    return places.get(way).remove();
  }

  /** Waits until it has read the server on this port. */
  void awaitUp(int server) {
    Await.until(
        "it is read",
        () -> !query("up{instance=\"%s\"} == 1".formatted(instance(server))).isEmpty());
  }

  /** Returns the names of the alerts that fire for a server. */
  List<String> firing(int server) {
    JsonObject answer = new JsonObject(get("/api/v1/alerts").body());
    return answer.getJsonObject("data").getJsonArray("alerts").stream()
        .map(JsonObject.class::cast)
        .filter(alert -> alert.getString("state").equals("firing"))
        .map(alert -> alert.getJsonObject("labels"))
        .filter(labels -> instance(server).equals(labels.getString("instance")))
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
