package lectus.http.testing;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.config.AccountKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationKey;
import lectus.config.CorsKeys;
import lectus.config.DocumentKeys;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.Machine;
import lectus.config.ScriptKeys;
import lectus.config.Settings;
import lectus.config.WebSocketKeys;
import lectus.config.WorkerKeys;
import lectus.database.SettingsSubspace.SettingName;
import lectus.database.testing.TestLayout;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.CompressionSettings;
import lectus.http.HttpSettings.ConnectionSettings;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.HttpSettings.RequestSettings;
import lectus.http.ServedSettings;
import lectus.http.ServedSettings.SettingsPlan;
import lectus.server.MemoryPlan;
import lectus.server.NodeSettings;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.server.WriteQueue.WriteSettings;

/**
 * What a server runs with in tests: as by default on a small machine, but for what is said here and
 * what a test is about.
 */
public final class TestSettings {
  /** So that plans are the same wherever tests run. */
  private static final Machine MACHINE = new Machine(1L << 30, 4L << 30, 2, 1 << 20);

  private final Map<String, String> chosen = new HashMap<>();
  private UnaryOperator<MemoryPlan> memory = UnaryOperator.identity();
  private HostSettings hosts = HostSettings.ANY;
  private Optional<CorsSettings> cors = Optional.empty();
  private Optional<DocumentLimits> documents = Optional.empty();
  private Optional<ClusterSettings> cluster = Optional.empty();
  private OptionalInt maxHeldBytes = OptionalInt.empty();
  private int headSeconds = ConnectionSettings.HEAD_SECONDS;
  private int maxHeaderBytes = ConnectionSettings.MAX_HEADER_BYTES;
  private int slowBodySeconds = RequestSettings.SLOW_BODY_SECONDS;
  private int compressedStreams = CompressionSettings.MAX_STREAMS;
  private int queueEdits = WriteSettings.QUEUE_EDITS;
  private long queueBytes = 64 << 20;
  private int batchEdits = WriteSettings.BATCH_EDITS;
  private PollSettings polls = PollSettings.USUAL;

  /** Any free port; many servers in one process, which are patient where the machine is slow. */
  public TestSettings() {
    with(ListenKeys.PORT, 0);
    with(HttpKeys.MAX_REQUEST_BYTES, 4L << 20);
    with(HttpKeys.STALLED_SECONDS, 60);
    with(HttpKeys.MAX_CONNECTIONS, 10_000);
    with(HttpKeys.STOP_SECONDS, 20);
    with(DocumentKeys.HOT_DOCUMENT_BYTES, 8 << 20);
    with(DocumentKeys.LAYOUT, TestLayout.OF_RUN.text());
    with(AccountKeys.HASH_ITERATIONS, 10);
    with(ScriptKeys.VIEWS_FOLLOW, "none");
    with(ScriptKeys.TIMEOUT_SECONDS, 60);
  }

  /** A key that is not as by default. */
  public TestSettings with(ConfigurationKey<?> key, Object value) {
    chosen.put(key.name(), value.toString());
    return this;
  }

  public TestSettings maxUriLength(int bytes) {
    return with(HttpKeys.MAX_URI_LENGTH, bytes);
  }

  public TestSettings maxRequestBytes(long bytes) {
    return with(HttpKeys.MAX_REQUEST_BYTES, bytes);
  }

  /** Sets how long a body may be that is held as a whole. */
  public TestSettings maxHeldBytes(int bytes) {
    maxHeldBytes = OptionalInt.of(bytes);
    return this;
  }

  /** Sets the memory for the bodies of all running requests. */
  public TestSettings bodyMemoryBytes(long bytes) {
    return with(HttpKeys.BODY_MEMORY_BYTES, bytes);
  }

  /** Sets the memory for rows and answers that wait for their clients. */
  public TestSettings pageMemoryBytes(long bytes) {
    return memory(plan -> shares(plan, bytes, plan.filters(), plan.replications()));
  }

  /** Sets the memory for the filters of live feeds. */
  public TestSettings filterMemoryBytes(long bytes) {
    return memory(plan -> shares(plan, plan.pages(), bytes, plan.replications()));
  }

  /** For what replications keep. */
  public TestSettings replicationMemoryBytes(long bytes) {
    return memory(plan -> shares(plan, plan.pages(), plan.filters(), bytes));
  }

  public TestSettings idleTimeoutSeconds(int seconds) {
    return with(HttpKeys.IDLE_TIMEOUT_SECONDS, seconds);
  }

  public TestSettings stalledSeconds(int seconds) {
    return with(HttpKeys.STALLED_SECONDS, seconds);
  }

  /** Sets the allowed hosts; by default all are, as on a server that is reached from elsewhere. */
  public TestSettings hosts(HostSettings settings) {
    hosts = settings;
    return this;
  }

  public TestSettings maxConnections(int connections) {
    return with(HttpKeys.MAX_CONNECTIONS, connections);
  }

  public TestSettings headSeconds(int seconds) {
    headSeconds = seconds;
    return this;
  }

  public TestSettings maxHeaderBytes(int bytes) {
    maxHeaderBytes = bytes;
    return this;
  }

  /** Sets how many answers of several parts may be compressed at a time. */
  public TestSettings compressedStreams(int most) {
    compressedStreams = most;
    return this;
  }

  /** Sets how many edits may wait for one executor, and how many bytes they may take. */
  public TestSettings queue(int edits, long bytes) {
    queueEdits = edits;
    queueBytes = bytes;
    return this;
  }

  public TestSettings slowBodySeconds(int seconds) {
    slowBodySeconds = seconds;
    return this;
  }

  public TestSettings requestSeconds(int seconds) {
    return with(HttpKeys.REQUEST_SECONDS, seconds);
  }

  /** Pages of this origin may use the server. */
  public TestSettings allowing(String origin) {
    return with(CorsKeys.CORS_ORIGINS, origin);
  }

  public TestSettings cors(CorsSettings settings) {
    cors = Optional.of(settings);
    return this;
  }

  /** Clients of WebSockets are pinged each second, and given up when four are silent. */
  public TestSettings impatientWithWebSockets() {
    return with(WebSocketKeys.PING_SECONDS, 1).with(WebSocketKeys.WEBSOCKET_IDLE_SECONDS, 4);
  }

  /** One executor of writes, and what one transaction takes at most. */
  public TestSettings oneExecutor(int edits) {
    batchEdits = edits;
    return with(WorkerKeys.EXECUTORS, 1);
  }

  /** Writes documents that a {@code validate_doc_update} should judge. */
  public TestSettings ignoringValidation() {
    return with(DocumentKeys.IGNORE_VALIDATION, true);
  }

  public TestSettings polls(PollSettings settings) {
    polls = settings;
    return this;
  }

  public TestSettings cluster(ClusterSettings settings) {
    cluster = Optional.of(settings);
    return this;
  }

  public TestSettings documents(DocumentLimits limits) {
    documents = Optional.of(limits);
    return this;
  }

  /** Returns the settings, with any free port of the loopback address. */
  public NodeSettings toNode() {
    NodeSettings node = new Settings(Configuration.of(null, Map.of(), chosen), MACHINE).node();
    return new NodeSettings(
        node.host(),
        node.port(),
        http(node.http()),
        documents.orElse(node.documents()),
        new WriteSettings(
            node.writes().executors(),
            queueEdits,
            queueBytes,
            batchEdits,
            WriteSettings.BATCH_BYTES),
        node.ignoresValidation(),
        node.accounts(),
        node.maxConnections(),
        node.readers(),
        node.jobTasks(),
        memory.apply(node.memory()),
        node.scripts(),
        node.replicator(),
        node.followed(),
        polls,
        cluster.or(node::cluster),
        node.wire(),
        node.metrics(),
        node.tracing(),
        node.stopGrace(),
        new Adjusted(node.plan(), this::served));
  }

  /** What is said here of the settings that may change. */
  private record Adjusted(SettingsPlan plan, UnaryOperator<ServedSettings> adjustment)
      implements SettingsPlan {
    @Override
    public ServedSettings with(Map<SettingName, Optional<String>> stored) {
      return adjustment.apply(plan.with(stored));
    }

    @Override
    public Optional<SettingName> nameOf(SettingName name) {
      return plan.nameOf(name);
    }

    @Override
    public void check(SettingName name, String text) {
      plan.check(name, text);
    }
  }

  private ServedSettings served(ServedSettings settings) {
    return new ServedSettings(
        http(settings.http()),
        documents.orElse(settings.documents()),
        settings.accounts(),
        settings.databases(),
        settings.jobs(),
        settings.relocationBytesPerSecond(),
        settings.texts());
  }

  private HttpSettings http(HttpSettings http) {
    ConnectionSettings connections = http.connections();
    RequestSettings requests = http.requests();
    return new HttpSettings(
        new ConnectionSettings(
            connections.maxUriLength(),
            maxHeaderBytes,
            connections.maxStreams(),
            connections.idleTimeoutSeconds(),
            connections.stalledSeconds(),
            headSeconds),
        http.proxies(),
        new RequestSettings(
            requests.maxRequestBytes(),
            maxHeldBytes.orElse(requests.maxHeldBytes()),
            requests.decodesPlus(),
            slowBodySeconds,
            requests.requestSeconds(),
            requests.maxUuids()),
        http.server(),
        hosts,
        new CompressionSettings(http.compression().enabled(), compressedStreams),
        cors.orElse(http.cors()),
        http.access(),
        http.webSockets());
  }

  private TestSettings memory(UnaryOperator<MemoryPlan> change) {
    UnaryOperator<MemoryPlan> before = memory;
    memory = plan -> change.apply(before.apply(plan));
    return this;
  }

  /** A plan with shares that no key decides. */
  private static MemoryPlan shares(MemoryPlan plan, long pages, long filters, long replications) {
    return new MemoryPlan(
        plan.bodies(),
        plan.hotDocuments(),
        plan.queuedWrites(),
        plan.queuedCommits(),
        plan.conflictHistory(),
        plan.pointReads(),
        plan.messages(),
        pages,
        filters,
        plan.scripts(),
        plan.views(),
        plan.candidates(),
        plan.glimpses(),
        replications,
        plan.connections(),
        plan.longestBody());
  }
}
