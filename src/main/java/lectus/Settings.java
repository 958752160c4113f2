package lectus;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import lectus.document.edit.DocumentLimits;
import lectus.http.CorsSettings;
import lectus.http.HttpSettings;
import lectus.http.socket.WebSocketSettings;
import lectus.json.JsonLimits;
import lectus.server.ClusterSettings;
import lectus.server.NodeSettings;
import lectus.server.PollSettings;
import lectus.server.WriteSettings;

/** Turns the configuration's keys into what the packages below take. */
final class Settings {
  /** Parsed JSON takes some times its own size, and half of the heap is for everything else. */
  private static final int HEAP_TO_BODIES = 8;

  private static final int HEAP_TO_HOT_DOCUMENTS = 8;

  private Settings() {}

  static NodeSettings of(Configuration configuration) {
    return new NodeSettings(
        configuration.get(Keys.HOST),
        configuration.get(Keys.PORT),
        http(configuration),
        documents(configuration),
        writes(configuration),
        configuration.get(Keys.IGNORE_VALIDATION),
        orPerCore(configuration.get(Keys.READERS), 2),
        orPartOfHeap(configuration.get(Keys.BODY_MEMORY_BYTES), HEAP_TO_BODIES),
        orPartOfHeap(configuration.get(Keys.HOT_DOCUMENT_BYTES), HEAP_TO_HOT_DOCUMENTS),
        polls(configuration),
        cluster(configuration),
        Duration.ofSeconds(configuration.get(Keys.STOP_SECONDS)));
  }

  private static HttpSettings http(Configuration configuration) {
    return new HttpSettings(
        configuration.get(Keys.MAX_REQUEST_BYTES),
        configuration.get(Keys.MAX_URI_LENGTH),
        configuration.get(Keys.MAX_HEADER_BYTES),
        configuration.get(Keys.IDLE_TIMEOUT_SECONDS),
        configuration.get(Keys.MAX_UUIDS),
        configuration.get(Keys.ACCESS_LOG),
        Version.text(),
        new CorsSettings(
            configuration.get(Keys.CORS_ORIGINS),
            configuration.get(Keys.CORS_CREDENTIALS),
            configuration.get(Keys.CORS_METHODS),
            configuration.get(Keys.CORS_HEADERS),
            configuration.get(Keys.CORS_MAX_AGE)),
        webSockets(configuration));
  }

  private static WebSocketSettings webSockets(Configuration configuration) {
    return new WebSocketSettings(
        configuration.get(Keys.MAX_MESSAGE_BYTES),
        configuration.get(Keys.MAX_SUBSCRIPTIONS),
        configuration.get(Keys.PING_SECONDS),
        configuration.get(Keys.WEBSOCKET_IDLE_SECONDS));
  }

  private static DocumentLimits documents(Configuration configuration) {
    boolean asCouchDb = configuration.get(Keys.DOCUMENT_LIMITS).equals("couchdb");
    JsonLimits limits = asCouchDb ? JsonLimits.couchDb() : JsonLimits.rfc004();
    int bytes = configuration.get(Keys.MAX_DOCUMENT_BYTES);
    return new DocumentLimits(
        configuration.get(Keys.MAX_ID_BYTES), bytes > 0 ? limits.withDocumentBytes(bytes) : limits);
  }

  private static WriteSettings writes(Configuration configuration) {
    return new WriteSettings(
        orPerCore(configuration.get(Keys.EXECUTORS), 1),
        configuration.get(Keys.QUEUE_EDITS),
        configuration.get(Keys.QUEUE_BYTES),
        configuration.get(Keys.BATCH_EDITS),
        configuration.get(Keys.BATCH_BYTES));
  }

  private static PollSettings polls(Configuration configuration) {
    int busy = configuration.get(Keys.POLL_BUSY_MILLIS);
    int idle = configuration.get(Keys.POLL_IDLE_MILLIS);
    if (idle < busy) {
      throw new ConfigurationException(
          "\"poll.idle-millis\" ("
              + idle
              + ") must not be less than \"poll.busy-millis\" ("
              + busy
              + ").");
    }
    return new PollSettings(Duration.ofMillis(busy), Duration.ofMillis(idle));
  }

  private static Optional<ClusterSettings> cluster(Configuration configuration) {
    String file = configuration.get(Keys.CLUSTER_CONFIG);
    if (!configuration.get(Keys.CLUSTER)) {
      if (!file.isEmpty()) {
        throw new ConfigurationException(
            "\"cluster.config\" is of no use without \"cluster\" (--cluster).");
      }
      return Optional.empty();
    }
    return Optional.of(
        new ClusterSettings(
            file.isEmpty() ? Optional.empty() : Optional.of(readable(file)),
            configuration.get(Keys.CLUSTER_EVENT_PORT)));
  }

  private static Path readable(String file) {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
      throw new ConfigurationException("The cluster configuration " + file + " cannot be read.");
    }
    return path;
  }

  /** 0 leaves the choice to the size of the heap. */
  private static long orPartOfHeap(int configured, int heapToPart) {
    return configured > 0 ? configured : Runtime.getRuntime().maxMemory() / heapToPart;
  }

  /** 0 leaves the choice to the number of cores. */
  private static int orPerCore(int configured, int perCore) {
    return configured > 0 ? configured : perCore * Runtime.getRuntime().availableProcessors();
  }
}
