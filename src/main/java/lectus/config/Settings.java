package lectus.config;

import io.vertx.core.http.ClientAuth;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lectus.account.AccountSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.SettingsSubspace.SettingName;
import lectus.document.DocumentId;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.CompressionSettings;
import lectus.http.HttpSettings.ConnectionSettings;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.HttpSettings.LogSettings;
import lectus.http.HttpSettings.ProxySettings;
import lectus.http.HttpSettings.RequestSettings;
import lectus.http.HttpSettings.ServerSettings;
import lectus.http.HttpSettings.WebSocketSettings;
import lectus.http.ServedSettings;
import lectus.http.ServedSettings.JobSettings;
import lectus.http.ServedSettings.SettingsPlan;
import lectus.http.client.AllowedHosts;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.exchange.Tracing.TracingSettings;
import lectus.json.JsonLimits;
import lectus.metrics.LogFormat;
import lectus.replication.ReplicationRequest.Defaults;
import lectus.replication.Replicator.ReplicatorSettings;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.server.ClusterSettings;
import lectus.server.ListenPort;
import lectus.server.MemoryPlan;
import lectus.server.NodeSettings;
import lectus.server.NodeSettings.WireSettings;
import lectus.server.StorePlan;
import lectus.server.WriteQueue.WriteSettings;
import lectus.server.connection.ConnectionLimit;
import lectus.server.connection.KeySource;
import lectus.server.connection.KeySource.TlsSettings;
import lectus.view.ViewFollower.Followed;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns the configuration's keys into the settings of the packages below. */
public final class Settings {
  private final Configuration configuration;
  private final Machine machine;

  public Settings(Configuration configuration, Machine machine) {
    this.configuration = configuration;
    this.machine = machine;
  }

  /** On the machine that this process runs on. */
  public static Settings of(Configuration configuration) {
    return new Settings(configuration, Machine.here());
  }

  /**
   * What a server runs with.
   *
   * @throws ConfigurationException values that do not go together
   */
  public NodeSettings node() {
    checkCors();
    new ConfiguredAccess(configuration).check();
    checkUtils();
    return new NodeSettings(
        configuration.get(ListenKeys.HOST),
        configuration.get(ListenKeys.PORT),
        http(),
        documents(),
        writes(),
        configuration.get(DocumentKeys.IGNORE_VALIDATION),
        accounts(),
        connections(),
        readers(),
        configuration.get(WorkerKeys.JOB_TASKS),
        memory(),
        scripts(),
        replicator(),
        Followed.valueOf(configuration.get(ScriptKeys.VIEWS_FOLLOW).toUpperCase(Locale.ROOT)),
        PollSettings.USUAL,
        cluster(),
        wire(),
        metrics(),
        tracing(),
        Duration.ofSeconds(configuration.get(HttpKeys.STOP_SECONDS)),
        plan());
  }

  /**
   * What may change while a server runs. Looks at nothing but the values.
   *
   * @param texts what the store says and is in force
   */
  ServedSettings served(Map<SettingName, String> texts) {
    return new ServedSettings(
        http(),
        documents(),
        accounts(),
        databases(),
        jobs(),
        configuration.get(ReplicatorKeys.RELOCATION_BYTES),
        texts);
  }

  /** Returns what a store's settings make of the configuration. */
  public SettingsPlan plan() {
    return new LiveConfiguration(configuration, machine);
  }

  private ScriptSettings scripts() {
    int chosen = Math.toIntExact(configuration.get(ScriptKeys.HEAP_MEGABYTES));
    ScriptSettings most =
        new ScriptSettings(
            EngineChoice.valueOf(configuration.get(ScriptKeys.ENGINE).toUpperCase(Locale.ROOT)),
            configuration.get(ScriptKeys.PROCESSES),
            chosen > 0 ? chosen : ScriptSettings.USUAL_MEGABYTES,
            configuration.get(ScriptKeys.TIMEOUT_SECONDS),
            memory().scripts());
    long room = machine.room(storeCache());
    return chosen > 0 ? most.fittingAsChosen(room) : most.fitting(room);
  }

  /** What the store takes beside the heap in this process. */
  private long storeCache() {
    return configuration.get(StoreKeys.STORE).equals("embedded") ? store().cache() : 0;
  }

  private DatabaseSettings databases() {
    return new DatabaseSettings(
        BodyLayout.named(configuration.get(DocumentKeys.LAYOUT)).orElseThrow(),
        configuration.get(DocumentKeys.KEEP_DELETED_SECONDS));
  }

  private JobSettings jobs() {
    return new JobSettings(
        configuration.get(ReplicatorKeys.MAX_JOBS),
        configuration.get(ReplicatorKeys.INTERVAL_MILLIS),
        configuration.get(ReplicatorKeys.MAX_CHURN),
        configuration.get(ReplicatorKeys.MAX_HISTORY),
        configuration.get(ReplicatorKeys.HEALTH_SECONDS),
        configuration.get(ReplicatorKeys.UPDATE_DOCUMENTS));
  }

  private ReplicatorSettings replicator() {
    return new ReplicatorSettings(
        new ClientSettings(
            AllowedHosts.of(
                configuration.get(ReplicatorKeys.ALLOW), configuration.get(ReplicatorKeys.DENY)),
            configuration.get(ReplicatorKeys.VERIFY),
            Optional.of(configuration.get(ReplicatorKeys.CERTIFICATES))
                .filter(file -> !file.isEmpty())
                .map(Path::of),
            configuration.get(ReplicatorKeys.CONNECTIONS)),
        Defaults.OF_COUCHDB,
        Optional.of(configuration.get(ReplicatorKeys.UUID)).filter(uuid -> !uuid.isEmpty()),
        memory().replications(),
        (int) memory().longestBody());
  }

  /** How the heap of this process is divided. */
  MemoryPlan memory() {
    return MemoryPlan.of(machine.heap(), executors())
        .with(
            configuration.get(HttpKeys.BODY_MEMORY_BYTES),
            configuration.get(DocumentKeys.HOT_DOCUMENT_BYTES));
  }

  /**
   * Returns what the embedded store takes beside the heap.
   *
   * @throws ConfigurationException if the memtables do not fit into the cache
   */
  StorePlan store() {
    StorePlan plan =
        StorePlan.of(machine.heap(), machine.memory(), machine.descriptors())
            .with(
                configuration.get(StoreKeys.STORE_CACHE_BYTES),
                configuration.get(StoreKeys.STORE_MEMTABLE_BYTES));
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

  /** Says how the memory of the machine, or of the container, is divided, and what is wrong. */
  public List<String> division() {
    return machine.division(storeCache(), scripts());
  }

  private HttpSettings http() {
    return new HttpSettings(
        new ConnectionSettings(
            configuration.get(HttpKeys.MAX_URI_LENGTH),
            ConnectionSettings.MAX_HEADER_BYTES,
            configuration.get(HttpKeys.MAX_STREAMS),
            configuration.get(HttpKeys.IDLE_TIMEOUT_SECONDS),
            configuration.get(HttpKeys.STALLED_SECONDS),
            ConnectionSettings.HEAD_SECONDS,
            proxies()),
        new RequestSettings(
            configuration.get(HttpKeys.MAX_REQUEST_BYTES),
            (int) Math.min(configuration.get(HttpKeys.MAX_REQUEST_BYTES), memory().longestBody()),
            configuration.get(HttpKeys.DECODE_PLUS),
            RequestSettings.SLOW_BODY_SECONDS,
            configuration.get(HttpKeys.REQUEST_SECONDS),
            configuration.get(HttpKeys.MAX_UUIDS)),
        new ServerSettings(
            Version.text(),
            serverHeader(),
            utils(),
            configuration.get(TlsKeys.HSTS_SECONDS),
            new LogSettings(
                configuration.get(LogKeys.ACCESS_LOG),
                LogFormat.named(configuration.get(LogKeys.FORMAT)),
                configuration.get(LogKeys.SLOW_MILLIS))),
        hosts(),
        new CompressionSettings(
            configuration.get(HttpKeys.COMPRESSION), CompressionSettings.MAX_STREAMS),
        cors(),
        new ConfiguredAccess(configuration).settings(),
        new WebSocketSettings(
            configuration.get(WebSocketKeys.MAX_MESSAGE_BYTES),
            configuration.get(WebSocketKeys.MAX_SUBSCRIPTIONS),
            configuration.get(WebSocketKeys.PING_SECONDS),
            configuration.get(WebSocketKeys.WEBSOCKET_IDLE_SECONDS),
            WebSocketSettings.MESSAGE_SECONDS));
  }

  private String serverHeader() {
    String chosen = configuration.get(HttpKeys.SERVER_HEADER);
    if (!chosen.chars().allMatch(c -> c >= ' ' && c <= '~')) {
      throw new ConfigurationException(
          "\"http.server-header\" has characters that are not printable ASCII.");
    }
    return chosen.isBlank()
        ? "CouchDB/" + HttpSettings.API_VERSION + " (Lectus/" + Version.text() + ")"
        : chosen;
  }

  private Optional<Path> utils() {
    return Optional.of(configuration.get(HttpKeys.UTILS))
        .filter(folder -> !folder.isEmpty())
        .map(Path::of);
  }

  private void checkUtils() {
    if (utils().isPresent() && !Files.isReadable(utils().get().resolve("index.html"))) {
      throw new ConfigurationException(
          "The folder of \"http.utils\", "
              + utils().get()
              + ", has no index.html that can be read.");
    }
  }

  /** Beyond loopback a server may be known by any name, so only configured names are checked. */
  private HostSettings hosts() {
    List<String> named = configuration.get(ListenKeys.HOSTS);
    ListenAddress address = ListenAddress.of(configuration.get(ListenKeys.HOST));
    if (named.isEmpty() && !address.isLoopback()) {
      return HostSettings.ANY;
    }
    List<String> names = new ArrayList<>(named);
    names.add(address.asHost());
    return HostSettings.named(names);
  }

  private WireSettings wire() {
    return new WireSettings(tls(), configuration.get(ProxyKeys.PROXY_PROTOCOL));
  }

  private ProxySettings proxies() {
    return new ProxySettings(
        configuration.get(ProxyKeys.TRUSTED_PROXIES),
        configuration.get(ProxyKeys.FORWARDED_HEADER).equals("forwarded"));
  }

  /**
   * Returns empty if connections are not to be encrypted.
   *
   * @throws ConfigurationException values that do not go together
   */
  private Optional<TlsSettings> tls() {
    Optional<KeySource> keys = tlsKeys();
    ClientAuth clients = clientCertificates();
    Optional<Path> clientCa = file(TlsKeys.CLIENT_CA);
    if (keys.isEmpty() && (clients != ClientAuth.NONE || clientCa.isPresent())) {
      throw new ConfigurationException(
          "Certificates of clients need TLS, and so a \"tls.certificate\" or a"
              + " \"tls.keystore\".");
    }
    if ((clients == ClientAuth.NONE) == clientCa.isPresent()) {
      throw new ConfigurationException(
          "\"tls.client-certificates\" and \"tls.client-ca\" go together.");
    }
    return keys.map(source -> new TlsSettings(source, clientCa, clients));
  }

  private ClientAuth clientCertificates() {
    return switch (configuration.get(TlsKeys.CLIENT_CERTIFICATES)) {
      case "optional" -> ClientAuth.REQUEST;
      case "required" -> ClientAuth.REQUIRED;
      default -> ClientAuth.NONE;
    };
  }

  private Optional<KeySource> tlsKeys() {
    Optional<Path> certificate = file(TlsKeys.CERTIFICATE);
    Optional<Path> key = file(TlsKeys.KEY);
    Optional<Path> store = file(TlsKeys.KEYSTORE);
    if (store.isPresent() && (certificate.isPresent() || key.isPresent())) {
      throw new ConfigurationException(
          "\"tls.keystore\" takes the place of \"tls.certificate\" and \"tls.key\".");
    }
    if (key.isPresent() && certificate.isEmpty()) {
      throw new ConfigurationException("\"tls.key\" needs a \"tls.certificate\".");
    }
    return store.isPresent()
        ? store.map(
            file -> new KeySource.Pkcs12(file, configuration.get(TlsKeys.KEYSTORE_PASSWORD)))
        : certificate.map(file -> new KeySource.Pem(file, key.orElse(file)));
  }

  private Optional<Path> file(ConfigurationKey<String> key) {
    String name = configuration.get(key);
    return name.isEmpty() ? Optional.empty() : Optional.of(Path.of(name));
  }

  private CorsSettings cors() {
    return new CorsSettings(
        isCorsEnabled(),
        origins(),
        sendsCredentials(),
        configuration.get(CorsKeys.CORS_METHODS),
        configuration.get(CorsKeys.CORS_HEADERS),
        configuration.get(CorsKeys.CORS_MAX_AGE));
  }

  private boolean isCorsEnabled() {
    String enabled = configuration.get(CorsKeys.CORS_ENABLED);
    return enabled.equals(CorsKeys.WITH_ORIGINS)
        ? !origins().isEmpty()
        : Boolean.parseBoolean(enabled);
  }

  private boolean sendsCredentials() {
    String credentials = configuration.get(CorsKeys.CORS_CREDENTIALS);
    return credentials.equals(CorsKeys.NAMED_ORIGINS)
        ? !origins().isEmpty() && !letEveryPageIn()
        : Boolean.parseBoolean(credentials);
  }

  /** Each page can show another in a sandbox, where the origin is null. */
  private boolean letEveryPageIn() {
    return origins().contains(CorsSettings.ALL) || origins().contains("null");
  }

  /** CouchDB's tools set both, so the store may say so; in a file it is more likely a mistake. */
  private void checkCors() {
    if (letEveryPageIn() && sendsCredentials()) {
      throw new ConfigurationException(
          "\"cors.origins\" must name the origins when \"cors.credentials\" is true: with \"*\""
              + " or \"null\" every web page could act in the name of whoever visits it.");
    }
  }

  private List<String> origins() {
    return configuration.get(CorsKeys.CORS_ORIGINS);
  }

  private DocumentLimits documents() {
    boolean asCouchDb = configuration.get(DocumentKeys.DOCUMENT_LIMITS).equals("couchdb");
    JsonLimits limits = asCouchDb ? JsonLimits.couchDb() : JsonLimits.rfc004();
    int bytes = configuration.get(DocumentKeys.MAX_DOCUMENT_BYTES);
    return new DocumentLimits(
        DocumentId.DEFAULT_MAX_BYTES,
        bytes > 0 ? limits.withDocumentBytes(bytes) : limits,
        new AttachmentSettings(
            configuration.get(DocumentKeys.MAX_ATTACHMENT_BYTES),
            Compression.of(
                configuration.get(DocumentKeys.COMPRESSION_LEVEL),
                configuration.get(DocumentKeys.COMPRESSED_TYPES))));
  }

  private WriteSettings writes() {
    return new WriteSettings(
        executors(),
        WriteSettings.QUEUE_EDITS,
        memory().queuedWrites(),
        WriteSettings.BATCH_EDITS,
        WriteSettings.BATCH_BYTES);
  }

  /** On loopback, or where the administrator says so, everybody may do everything at first. */
  private AccountSettings accounts() {
    boolean isLoopback = ListenAddress.of(configuration.get(ListenKeys.HOST)).isLoopback();
    return new AccountSettings(
        configuration.get(AccountKeys.HASH_ITERATIONS),
        AccountSettings.DEFAULT_ITERATIONS,
        new ConfiguredAccess(configuration).unset(),
        isLoopback || configuration.get(ListenKeys.ALLOW_ANONYMOUS),
        configuration.get(AccountKeys.PER_USER_DATABASES),
        configuration.get(AccountKeys.DELETE_USER_DATABASES),
        configuration.get(AccountKeys.USERS_SECURITY_EDITABLE),
        lockout());
  }

  private AccountSettings.Lockout lockout() {
    return switch (configuration.get(AccountKeys.LOCKOUT)) {
      case "off" -> AccountSettings.Lockout.OFF;
      case "warn" -> AccountSettings.Lockout.WARN;
      default -> AccountSettings.Lockout.ENFORCE;
    };
  }

  private Optional<ListenPort> metrics() {
    int port = configuration.get(MetricsKeys.METRICS_PORT);
    return port == 0
        ? Optional.empty()
        : Optional.of(
            new ListenPort("metrics.host", configuration.get(MetricsKeys.METRICS_HOST), port));
  }

  private Optional<TracingSettings> tracing() {
    return configuration
        .get(TracingKeys.ENDPOINT)
        .map(
            endpoint ->
                new TracingSettings(
                    tracesOf(endpoint),
                    configuration.get(TracingKeys.SERVICE_NAME),
                    configuration.get(TracingKeys.SAMPLE_RATIO)));
  }

  /** A path is as it is; without one it is that of OTLP. */
  private static URI tracesOf(URI endpoint) {
    boolean hasPath = !endpoint.getRawPath().isEmpty() && !endpoint.getRawPath().equals("/");
    return hasPath ? endpoint : endpoint.resolve("/v1/traces");
  }

  private Optional<ClusterSettings> cluster() {
    String file = configuration.get(ClusterKeys.CLUSTER_CONFIG);
    if (!configuration.get(ClusterKeys.CLUSTER)) {
      if (!file.isEmpty()) {
        throw new ConfigurationException(
            "\"cluster.config\" is of no use without \"cluster\" (--cluster).");
      }
      return Optional.empty();
    }
    return Optional.of(
        new ClusterSettings(
            file.isEmpty() ? Optional.empty() : Optional.of(readable(file)),
            configuration.get(ClusterKeys.CLUSTER_EVENT_PORT)));
  }

  private static Path readable(String file) {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
      throw new ConfigurationException("The cluster configuration " + file + " cannot be read.");
    }
    return path;
  }

  /** 0 leaves the choice to the number of cores and to the heap. */
  private int readers() {
    int configured = configuration.get(WorkerKeys.READERS);
    return configured > 0
        ? configured
        : Math.min(orPerCore(0, 2), MemoryPlan.mostReaders(machine.heap()));
  }

  private int executors() {
    return orPerCore(configuration.get(WorkerKeys.EXECUTORS), 1);
  }

  /** 0 leaves the choice to the heap. Nobody can choose to take the store's descriptors. */
  private int connections() {
    int configured = configuration.get(HttpKeys.MAX_CONNECTIONS);
    return ConnectionLimit.of(
        configured > 0 ? configured : memory().mostConnections(), machine.descriptors());
  }

  /** 0 leaves the choice to the number of cores. */
  private int orPerCore(int configured, int perCore) {
    return configured > 0 ? configured : perCore * machine.cores();
  }

  /** The configuration, and in place of some of its values those of the store. */
  private static final class LiveConfiguration implements SettingsPlan {
    private static final Logger LOG = LoggerFactory.getLogger(LiveConfiguration.class);

    /** Characters of a value that an answer repeats. */
    private static final int MAX_QUOTED = 100;

    private final Configuration configuration;
    private final Machine machine;

    public LiveConfiguration(Configuration configuration, Machine machine) {
      this.configuration = configuration;
      this.machine = machine;
    }

    @Override
    public ServedSettings with(Map<SettingName, Optional<String>> stored) {
      Map<String, String> values = new HashMap<>();
      Map<SettingName, String> texts = new HashMap<>();
      for (ChangeableKey live : LiveKeys.ALL) {
        Optional<String> text = stored.getOrDefault(live.name(), Optional.empty());
        Optional<String> value = text.flatMap(live::valueOf);
        if (value.isEmpty() && stored.containsKey(live.name())) {
          value = live.safe();
          LOG.warn("The store's value of {} is of no use here.", live.name());
        } else if (value.isPresent()) {
          texts.put(live.name(), text.get());
        }
        value.ifPresent(it -> values.put(live.key().name(), it));
      }
      stored.forEach(
          (name, text) -> {
            if (LiveKeys.isKept(name)) {
              text.ifPresent(it -> texts.put(name, it));
            }
          });
      return settings(values, texts);
    }

    /** Origins that are stored do not switch CORS on; in CouchDB they do not either. */
    private ServedSettings settings(Map<String, String> values, Map<SettingName, String> texts) {
      values.putIfAbsent(
          CorsKeys.CORS_ENABLED.name(),
          Boolean.toString(new Settings(configuration, machine).isCorsEnabled()));
      return new Settings(configuration.with(values), machine).served(texts);
    }

    @Override
    public Optional<SettingName> nameOf(SettingName name) {
      return LiveKeys.of(name)
          .map(ChangeableKey::name)
          .or(() -> Optional.of(name).filter(LiveKeys::isKept));
    }

    @Override
    public void check(SettingName name, String text) {
      if (text.chars().anyMatch(Character::isISOControl)) {
        throw LectusException.badRequest(
            name + " must be on one line, without control characters.");
      }
      LiveKeys.of(name)
          .filter(live -> live.valueOf(text).isEmpty())
          .ifPresent(
              live -> {
                throw LectusException.badRequest(
                    name + " must be " + live.type().wanted() + found(text) + ".");
              });
    }

    private static String found(String text) {
      return text.length() > MAX_QUOTED ? "" : ", not \"" + text + "\"";
    }
  }

  /**
   * The address that the server listens on.
   *
   * @param name as it is configured
   */
  public record ListenAddress(String name, boolean isLoopback) {

    /**
     * @throws ConfigurationException the name has no address
     */
    public static ListenAddress of(String name) {
      try {
        return new ListenAddress(name, InetAddress.getByName(name).isLoopbackAddress());
      } catch (UnknownHostException e) {
        throw new ConfigurationException(
            "\"host\" names no address: \"" + name + "\" is not known.");
      }
    }

    /** Returns the name as in a URL: an IPv6 address in brackets. */
    String asHost() {
      return name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name;
    }
  }
}
