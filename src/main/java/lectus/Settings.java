package lectus;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.document.edit.DocumentLimits;
import lectus.http.CorsSettings;
import lectus.http.HostSettings;
import lectus.http.HttpSettings;
import lectus.http.socket.WebSocketSettings;
import lectus.json.JsonLimits;
import lectus.server.ClusterSettings;
import lectus.server.ConnectionLimit;
import lectus.server.MemoryPlan;
import lectus.server.NodeSettings;
import lectus.server.PollSettings;
import lectus.server.StorePlan;
import lectus.server.WriteSettings;

/** Turns the configuration's keys into what the packages below take. */
final class Settings {
  private Settings() {}

  static NodeSettings of(Configuration configuration) {
    return new NodeSettings(
        configuration.get(Keys.HOST),
        configuration.get(Keys.PORT),
        http(configuration),
        documents(configuration),
        writes(configuration),
        configuration.get(Keys.IGNORE_VALIDATION),
        connections(configuration),
        readers(configuration),
        memory(configuration),
        polls(configuration),
        cluster(configuration),
        Duration.ofSeconds(configuration.get(Keys.STOP_SECONDS)));
  }

  /** How the heap of this process is divided. */
  static MemoryPlan memory(Configuration configuration) {
    return MemoryPlan.of(Runtime.getRuntime().maxMemory(), executors(configuration))
        .with(
            configuration.get(Keys.BODY_MEMORY_BYTES),
            configuration.get(Keys.HOT_DOCUMENT_BYTES),
            configuration.get(Keys.QUEUE_BYTES));
  }

  /**
   * What the embedded store takes beside the heap.
   *
   * @throws ConfigurationException if the memtables do not fit into the cache
   */
  static StorePlan store(Configuration configuration) {
    StorePlan plan =
        StorePlan.of(
                Runtime.getRuntime().maxMemory(),
                StorePlan.machineMemory(),
                ConnectionLimit.descriptors())
            .with(
                configuration.get(Keys.STORE_CACHE_BYTES),
                configuration.get(Keys.STORE_MEMTABLE_BYTES),
                Math.toIntExact(configuration.get(Keys.STORE_OPEN_FILES)));
    if (!plan.isPossible()) {
      throw new ConfigurationException(
          "\"store.memtable-bytes\" ("
              + plan.memtable()
              + ") must not be more than a quarter of \"store.cache-bytes\" ("
              + plan.cache()
              + ").");
    }
    return plan;
  }

  private static HttpSettings http(Configuration configuration) {
    return new HttpSettings(
        (int)
            Math.min(
                configuration.get(Keys.MAX_REQUEST_BYTES), memory(configuration).longestBody()),
        configuration.get(Keys.MAX_URI_LENGTH),
        configuration.get(Keys.MAX_HEADER_BYTES),
        configuration.get(Keys.IDLE_TIMEOUT_SECONDS),
        configuration.get(Keys.STALLED_SECONDS),
        configuration.get(Keys.HEAD_SECONDS),
        configuration.get(Keys.SLOW_BODY_SECONDS),
        configuration.get(Keys.REQUEST_SECONDS),
        configuration.get(Keys.MAX_UUIDS),
        configuration.get(Keys.ACCESS_LOG),
        Version.text(),
        hosts(configuration),
        cors(configuration),
        webSockets(configuration));
  }

  /** Beyond loopback a server may be known by any name, so only configured names are checked. */
  private static HostSettings hosts(Configuration configuration) {
    List<String> named = configuration.get(Keys.HOSTS);
    ListenAddress address = ListenAddress.of(configuration.get(Keys.HOST));
    if (named.isEmpty() && !address.isLoopback()) {
      return HostSettings.ANY;
    }
    List<String> names = new ArrayList<>(named);
    names.add(address.asHost());
    return HostSettings.named(names);
  }

  private static CorsSettings cors(Configuration configuration) {
    CorsSettings cors =
        new CorsSettings(
            configuration.get(Keys.CORS_ORIGINS),
            configuration.get(Keys.CORS_CREDENTIALS),
            configuration.get(Keys.CORS_METHODS),
            configuration.get(Keys.CORS_HEADERS),
            configuration.get(Keys.CORS_MAX_AGE));
    if (cors.allowsAll() && cors.credentials()) {
      throw new ConfigurationException(
          "\"cors.origins\" must name the origins when \"cors.credentials\" is true: with \"*\""
              + " every web page could act in the name of whoever visits it.");
    }
    return cors;
  }

  private static WebSocketSettings webSockets(Configuration configuration) {
    return new WebSocketSettings(
        configuration.get(Keys.MAX_MESSAGE_BYTES),
        configuration.get(Keys.MAX_SUBSCRIPTIONS),
        configuration.get(Keys.PING_SECONDS),
        configuration.get(Keys.WEBSOCKET_IDLE_SECONDS),
        configuration.get(Keys.MESSAGE_SECONDS));
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
        executors(configuration),
        configuration.get(Keys.QUEUE_EDITS),
        memory(configuration).queuedWrites(),
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

  /** 0 leaves the choice to the number of cores and to the heap. */
  private static int readers(Configuration configuration) {
    int configured = configuration.get(Keys.READERS);
    return configured > 0
        ? configured
        : Math.min(orPerCore(0, 2), MemoryPlan.mostReaders(Runtime.getRuntime().maxMemory()));
  }

  private static int executors(Configuration configuration) {
    return orPerCore(configuration.get(Keys.EXECUTORS), 1);
  }

  /** 0 leaves the choice to the heap. Nobody can choose to take the store's descriptors. */
  private static int connections(Configuration configuration) {
    int configured = configuration.get(Keys.MAX_CONNECTIONS);
    return ConnectionLimit.of(
        configured > 0 ? configured : memory(configuration).mostConnections(),
        ConnectionLimit.descriptors());
  }

  /** 0 leaves the choice to the number of cores. */
  private static int orPerCore(int configured, int perCore) {
    return configured > 0 ? configured : perCore * Runtime.getRuntime().availableProcessors();
  }
}
