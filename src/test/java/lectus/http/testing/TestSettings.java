package lectus.http.testing;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lectus.document.edit.DocumentLimits;
import lectus.http.CorsSettings;
import lectus.http.HostSettings;
import lectus.http.HttpSettings;
import lectus.http.socket.WebSocketSettings;
import lectus.server.ClusterSettings;
import lectus.server.MemoryPlan;
import lectus.server.NodeSettings;
import lectus.server.PollSettings;
import lectus.server.WriteSettings;

/** What a server runs with in tests: much as by default, but for what a test is about. */
public final class TestSettings {
  private static final int MAX_HEADER_BYTES = 16_384;
  private static final int MAX_UUIDS = 1_000;
  private static final int READERS = 4;
  private static final long HEAP = 1 << 30;
  private static final long HOT_DOCUMENT_BYTES = 8 << 20;

  private int maxUriLength = 8_000;
  private int maxRequestBytes = 4 << 20;
  private long bodyMemoryBytes = 64 << 20;
  private long messageMemoryBytes = 64 << 20;
  private long pageMemoryBytes = 64 << 20;
  private long filterMemoryBytes = 64 << 20;
  private int idleTimeoutSeconds = 300;
  private int stalledSeconds = 60;
  private HostSettings hosts = HostSettings.ANY;
  private int maxConnections = 10_000;
  private int headSeconds = 30;
  private int slowBodySeconds = 30;
  private int requestSeconds = 10;
  private CorsSettings cors = new CorsSettings(List.of(), false, List.of(), List.of(), 0);
  private WebSocketSettings webSockets = new WebSocketSettings(256 << 10, 1_000, 30, 120, 10);
  private WriteSettings writes = new WriteSettings(2, 10_000, 64 << 20, 64, 1 << 20);
  private boolean ignoresValidation = false;
  private PollSettings polls = new PollSettings(Duration.ofMillis(100), Duration.ofSeconds(2));
  private Optional<ClusterSettings> cluster = Optional.empty();
  private DocumentLimits documents = DocumentLimits.DEFAULT;

  public TestSettings maxUriLength(int bytes) {
    maxUriLength = bytes;
    return this;
  }

  public TestSettings maxRequestBytes(int bytes) {
    maxRequestBytes = bytes;
    return this;
  }

  /** What the bodies of all running requests may hold. */
  public TestSettings bodyMemoryBytes(long bytes) {
    bodyMemoryBytes = bytes;
    return this;
  }

  /** What WebSockets' clients may have said that nobody has handled. */
  public TestSettings messageMemoryBytes(long bytes) {
    messageMemoryBytes = bytes;
    return this;
  }

  /** What rows and answers may hold that wait for their clients. */
  public TestSettings pageMemoryBytes(long bytes) {
    pageMemoryBytes = bytes;
    return this;
  }

  /** What live feeds may hold to match with. */
  public TestSettings filterMemoryBytes(long bytes) {
    filterMemoryBytes = bytes;
    return this;
  }

  public TestSettings idleTimeoutSeconds(int seconds) {
    idleTimeoutSeconds = seconds;
    return this;
  }

  public TestSettings stalledSeconds(int seconds) {
    stalledSeconds = seconds;
    return this;
  }

  /** By default every name does, as on a server that is reached from elsewhere. */
  public TestSettings hosts(HostSettings settings) {
    hosts = settings;
    return this;
  }

  public TestSettings maxConnections(int connections) {
    maxConnections = connections;
    return this;
  }

  public TestSettings headSeconds(int seconds) {
    headSeconds = seconds;
    return this;
  }

  public TestSettings slowBodySeconds(int seconds) {
    slowBodySeconds = seconds;
    return this;
  }

  public TestSettings requestSeconds(int seconds) {
    requestSeconds = seconds;
    return this;
  }

  /** Pages of this origin may read what the server answers to {@code GET}. */
  public TestSettings allowing(String origin) {
    return cors(new CorsSettings(List.of(origin), false, List.of("GET"), List.of(), 600));
  }

  public TestSettings cors(CorsSettings settings) {
    cors = settings;
    return this;
  }

  public TestSettings webSockets(WebSocketSettings settings) {
    webSockets = settings;
    return this;
  }

  public TestSettings writes(WriteSettings settings) {
    writes = settings;
    return this;
  }

  /** Documents are written that a {@code validate_doc_update} should look at. */
  public TestSettings ignoringValidation() {
    ignoresValidation = true;
    return this;
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
    documents = limits;
    return this;
  }

  /** On any free port of the loopback address. */
  public NodeSettings toNode() {
    return new NodeSettings(
        "127.0.0.1",
        0,
        http(),
        documents,
        writes,
        ignoresValidation,
        maxConnections,
        READERS,
        memory(),
        polls,
        cluster,
        Duration.ofSeconds(20));
  }

  private MemoryPlan memory() {
    MemoryPlan plan = MemoryPlan.of(HEAP, writes.executors());
    return new MemoryPlan(
        bodyMemoryBytes,
        HOT_DOCUMENT_BYTES,
        writes.queueBytes(),
        plan.queuedCommits(),
        plan.conflictHistory(),
        messageMemoryBytes,
        pageMemoryBytes,
        filterMemoryBytes,
        plan.candidates(),
        plan.glimpses(),
        plan.connections(),
        plan.longestBody());
  }

  private HttpSettings http() {
    return new HttpSettings(
        maxRequestBytes,
        maxUriLength,
        MAX_HEADER_BYTES,
        idleTimeoutSeconds,
        stalledSeconds,
        headSeconds,
        slowBodySeconds,
        requestSeconds,
        MAX_UUIDS,
        true,
        "0.0.0-test",
        hosts,
        cors,
        webSockets);
  }
}
