package lectus.config;

import io.vertx.core.http.ClientAuth;
import java.io.IOException;
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
import lectus.account.UserDocuments.PublicFields;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.config.LiveKeys.ChangeableKey;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.SecurityObject;
import lectus.database.SettingsSubspace.SettingName;
import lectus.document.DocumentId;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.HttpSettings.CompressionSettings;
import lectus.http.HttpSettings.ConnectionSettings;
import lectus.http.HttpSettings.CookieSettings;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.HttpSettings.LogSettings;
import lectus.http.HttpSettings.MalformedKeysException;
import lectus.http.HttpSettings.ProxySettings;
import lectus.http.HttpSettings.RequestSettings;
import lectus.http.HttpSettings.ServerSettings;
import lectus.http.HttpSettings.TokenSettings;
import lectus.http.HttpSettings.UserLimits;
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
import lectus.server.ListenPort;
import lectus.server.MemoryPlan;
import lectus.server.NodeSettings;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.server.NodeSettings.WireSettings;
import lectus.server.StorePlan;
import lectus.server.WriteQueue.WriteSettings;
import lectus.server.connection.ConnectionGate.ConnectionLimit;
import lectus.server.connection.KeySource;
import lectus.server.connection.KeySource.TlsSettings;
import lectus.view.ViewFollower.Followed;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the configuration's keys into the settings of the packages below, also with values of the
 * store in place of some of the configuration's.
 */
public record Settings(Configuration configuration, Machine machine) implements SettingsPlan {
  private static final Logger LOG = LoggerFactory.getLogger(Settings.class);

  /** Characters of a value that an answer repeats. */
  private static final int MAX_QUOTED = 100;

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
    checkAccess();
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
        this);
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
            file(ReplicatorKeys.CERTIFICATES),
            configuration.get(ReplicatorKeys.CONNECTIONS)),
        Defaults.OF_COUCHDB,
        named(ReplicatorKeys.UUID),
        memory().replications(),
        (int) memory().longestBody());
  }

  MemoryPlan memory() {
    return MemoryPlan.of(
        machine.heap(),
        executors(),
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
          ("\"store.memtable-bytes\" (%s) must not be more than a quarter of \"store.cache-bytes\""
                  + " (%s).")
              .formatted(plan.memtable(), plan.cache()));
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
            ConnectionSettings.HEAD_SECONDS),
        proxies(),
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
            file(HttpKeys.UTILS),
            configuration.get(TlsKeys.HSTS_SECONDS),
            new LogSettings(
                configuration.get(LogKeys.ACCESS_LOG),
                LogFormat.named(configuration.get(LogKeys.FORMAT)),
                configuration.get(LogKeys.SLOW_MILLIS))),
        hosts(),
        new CompressionSettings(
            configuration.get(HttpKeys.COMPRESSION), CompressionSettings.MAX_STREAMS),
        cors(),
        access(),
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

  private void checkUtils() {
    file(HttpKeys.UTILS)
        .filter(folder -> !Files.isReadable(folder.resolve("index.html")))
        .ifPresent(
            folder -> {
              throw new ConfigurationException(
                  "The folder of \"http.utils\", %s, has no index.html that can be read."
                      .formatted(folder));
            });
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
    return named(key).map(Path::of);
  }

  /** A blank name is one, and refused: what it protects would go on without it. */
  private Optional<String> named(ConfigurationKey<String> key) {
    return Optional.of(configuration.get(key)).filter(name -> !name.isEmpty());
  }

  /**
   * @throws ConfigurationException values that do not go together, or a file that cannot be read
   */
  private void checkAccess() {
    if (configuration.get(AccessKeys.PROXY_AUTH) && proxySecret().isEmpty()) {
      throw new ConfigurationException(
          "\"access.proxy-auth\" needs \"access.proxy-secret\": otherwise whoever reaches the port"
              + " could say that it is anybody.");
    }
    given(configuration.get(AccessKeys.JWT_KEYS)).ifPresent(Settings::checkKeys);
  }

  private AccessSettings access() {
    return new AccessSettings(
        configuration.get(AccessKeys.REQUIRE_VALID_USER),
        configuration.get(AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP),
        given(configuration.get(AccessKeys.CHALLENGE)),
        given(configuration.get(AccessKeys.AUTHENTICATION_REDIRECT)),
        configuration.get(AccessKeys.ADMIN_ONLY_ALL_DBS),
        unset(),
        new PublicFields(configuration.get(AccountKeys.PUBLIC_FIELDS)),
        cookies(),
        proxySecret(),
        tokens(),
        new UserLimits(
            configuration.get(AccessKeys.MAX_REQUESTS_PER_SECOND),
            configuration.get(AccessKeys.MAX_USER_CONNECTIONS),
            configuration.get(AccessKeys.MAX_USER_SUBSCRIPTIONS)));
  }

  /** Returns who may use a database whose security was never set. */
  private SecurityObject unset() {
    return configuration.get(AccessKeys.DEFAULT_SECURITY).equals("everyone")
        ? SecurityObject.EVERYBODY
        : SecurityObject.ADMIN_ONLY;
  }

  private CookieSettings cookies() {
    String site = configuration.get(AccessKeys.COOKIE_SAME_SITE);
    return new CookieSettings(
        configuration.get(AccessKeys.COOKIE_SECONDS),
        configuration.get(AccessKeys.PERSISTENT_COOKIES),
        given(configuration.get(AccessKeys.COOKIE_DOMAIN)),
        site.equals("unset") ? Optional.empty() : Optional.of(capitalized(site)));
  }

  private static String capitalized(String word) {
    return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
  }

  /** Without a secret, whoever reaches the port could be anybody. */
  private Optional<String> proxySecret() {
    return given(configuration.get(AccessKeys.PROXY_SECRET))
        .filter(it -> configuration.get(AccessKeys.PROXY_AUTH));
  }

  private TokenSettings tokens() {
    Map<String, Optional<String>> required = new HashMap<>();
    for (String claim : configuration.get(AccessKeys.JWT_REQUIRED_CLAIMS)) {
      int equals = claim.indexOf('=');
      if (equals < 0) {
        required.put(claim, Optional.empty());
      } else {
        required.put(claim.substring(0, equals), Optional.of(claim.substring(equals + 1)));
      }
    }
    return new TokenSettings(
        given(configuration.get(AccessKeys.JWT_KEYS)).map(Path::of),
        configuration.get(AccessKeys.JWT_ROLES_CLAIM),
        required);
  }

  private static void checkKeys(String file) {
    try {
      TokenSettings.checkKeys(Path.of(file));
    } catch (IOException unreadable) {
      throw new ConfigurationException("The keys of tokens in " + file + " cannot be read.");
    } catch (MalformedKeysException malformed) {
      throw new ConfigurationException(
          "The keys of tokens in " + file + " cannot be used: " + malformed.getMessage() + ".");
    }
  }

  private static Optional<String> given(String text) {
    return Optional.of(text).filter(it -> !it.isBlank());
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
        unset(),
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
    Optional<Path> file = file(ClusterKeys.CLUSTER_CONFIG);
    if (!configuration.get(ClusterKeys.CLUSTER)) {
      if (file.isPresent()) {
        throw new ConfigurationException(
            "\"cluster.config\" is of no use without \"cluster\" (--cluster).");
      }
      return Optional.empty();
    }
    return Optional.of(
        new ClusterSettings(
            file.map(Settings::readable), configuration.get(ClusterKeys.CLUSTER_EVENT_PORT)));
  }

  private static Path readable(Path file) {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new ConfigurationException("The cluster configuration " + file + " cannot be read.");
    }
    return file;
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
    values.putIfAbsent(CorsKeys.CORS_ENABLED.name(), Boolean.toString(isCorsEnabled()));
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
      throw LectusException.badRequest(name + " must be on one line, without control characters.");
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
