package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.abuse.ServerProcess;
import lectus.clients.NodeClients;
import lectus.config.AccessKeys;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.MetricsKeys;
import lectus.config.TlsKeys;
import lectus.deployment.Prometheus.Way;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestCertificate;
import lectus.http.testing.TestSettings;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.server.testing.ClusterFile;
import lectus.store.EmbeddedStores;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.FrozenStore;
import lectus.store.HeldCommits;
import lectus.store.Store;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.EngineOptions;
import lectus.store.embedded.engine.StoppedFlushes;
import lectus.store.testing.Await;
import lectus.store.testing.SmallDisk;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each alert of {@code conf/alerts.yaml} fires once its cause is there, as a real Prometheus that
 * reads real servers says. Windows and patience of the rules are seconds here; the limits are as
 * they are.
 */
final class AlertsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** Of all tests together. */
  private static final int MAX_SERVERS = 20;

  private static final Path WITH_ITS_CLOCK = Path.of("src/test/promtool/alerts.yaml");

  private static final int HEAP_MEGABYTES = 128;
  private static final Pattern HEAP_USE =
      Pattern.compile("(?m)^jvm_memory_usage_after_gc\\{.*} (\\S+)$");
  private static final String UPGRADE =
      "GET /w/_changes HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

  @TempDir private static Path shared;

  private static Prometheus prometheus;
  private static LectusServer healthy;

  @TempDir private Path folder;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  @BeforeAll
  static void watch() throws IOException {
    String rules = Files.readString(Path.of("conf", "alerts.yaml"));
    prometheus =
        Prometheus.start(
            shared,
            rules.replaceAll("for: \\d+[smh]\n", "for: 0s\n").replaceAll("\\[\\d+m]", "[3s]"),
            MAX_SERVERS);
    healthy = LectusServer.start(stores.fresh(), at(Way.REQUESTS, new TestSettings()));
    awaitRead(healthy);
  }

  @AfterAll
  static void end() {
    if (healthy != null) {
      healthy.close();
    }
    if (prometheus != null) {
      prometheus.close();
    }
  }

  @BeforeEach
  void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @AfterEach
  void close() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
    // Nothing that ailed the others has come over this one. On a slow machine it may be read late.
    assertThat(prometheus.firing(healthy.port())).isSubsetOf("LectusDown");
  }

  private <T extends AutoCloseable> T kept(T resource) {
    open.push(resource);
    return resource;
  }

  private static TestSettings at(Way way, TestSettings settings) {
    return settings.with(ListenKeys.PORT, prometheus.place(way));
  }

  private LectusServer watched(Store store, TestSettings settings) {
    LectusServer server = kept(LectusServer.start(store, at(Way.REQUESTS, settings)));
    server.put("/w");
    awaitRead(server);
    return server;
  }

  /** Until then, its place is down. */
  private static void awaitRead(LectusServer server) {
    prometheus.awaitUp(server.port());
    Await.until(
        "it is no longer down", () -> !prometheus.firing(server.port()).contains("LectusDown"));
  }

  private LectusServer watched(Store store) {
    return watched(store, new TestSettings());
  }

  private Connection client(Request request) {
    return kept(request.open());
  }

  private void assertFires(String alert, LectusServer server) {
    assertFires(alert, server, () -> {});
  }

  /**
   * @param cause comes again and again until the alert fires
   */
  private void assertFires(String alert, LectusServer server, Runnable cause) {
    assertFires(alert, server.port(), cause);
  }

  private void assertFires(String alert, int port, Runnable cause) {
    Await.until(
        alert + " fires",
        () -> {
          cause.run();
          return prometheus.firing(port).contains(alert);
        });
  }

  /**
   * @param cause takes some time, and is told to Prometheus within a second
   */
  private void assertFiresSoon(String alert, LectusServer server, Runnable cause) {
    Await.until(
        alert + " fires",
        () -> {
          cause.run();
          long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
          boolean fires = false;
          while (!fires && System.nanoTime() - end < 0) {
            hold(50);
            fires = prometheus.firing(server.port()).contains(alert);
          }
          return fires;
        });
  }

  /** The condition is the time that has passed. */
  private static void hold(long millis) {
    long begun = System.nanoTime();
    Await.until(
        "time has passed", () -> System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Test
  void a_server_that_has_ended() {
    LectusServer server = watched(stores.fresh());
    open.clear();
    server.close();

    assertFires("LectusDown", server);
  }

  @Test
  void a_disk_that_fills_up() {
    SmallDisk disk = kept(SmallDisk.mount(folder, 96));
    long reserve = 8 << 20;
    EmbeddedOptions options =
        EmbeddedOptions.defaults().withEngine(EngineOptions.defaults().withReserve(reserve));
    LectusServer server = watched(kept(EmbeddedStores.open(disk.data(), options)));
    assertThat(prometheus.firing(server.port())).isEmpty();

    disk.fillUpTo(2 * reserve);
    assertFires("LectusSpaceLow", server);
    server.put("/w/a", "{}").expect(201);

    disk.fillUpTo(reserve / 2);
    assertFires("LectusNoSpace", server);
    assertFires("LectusErrors", server, () -> server.put("/w/b", "{}"));
    server.put("/w/b", "{}").expect(507);
  }

  @Test
  void a_disk_that_runs_full_in_a_write() {
    SmallDisk disk = kept(SmallDisk.mount(folder, 64));
    EmbeddedOptions options =
        EmbeddedOptions.defaults().withEngine(EngineOptions.defaults().withReserve(1));
    LectusServer server = watched(kept(EmbeddedStores.open(disk.data(), options)));
    disk.fillUpTo(8 << 20);
    String large = "{\"a\":\"" + "x".repeat(1_000_000) + "\"}";

    assertFires("LectusStoreTrouble", server, () -> server.post("/w", large));
  }

  @Test
  void commits_that_take_long() {
    HeldCommits commits = new HeldCommits();
    LectusServer server = watched(kept(commits.open(folder)));

    assertFiresSoon(
        "LectusCommitsSlow",
        server,
        () -> {
          commits.hold();
          Connection client = client(server.request("POST", "/w").json("{}"));
          hold(1_300);
          commits.release();
          client.read(false).expect(201);
        });
  }

  @Test
  void memtables_that_are_not_flushed() throws Exception {
    EmbeddedOptions options =
        EmbeddedOptions.defaults()
            .withEngine(EngineOptions.defaults().withMemory(16 << 20, 1 << 20).withOpenFiles(100));
    Store store = kept(EmbeddedStores.open(folder, options));
    LectusServer server = watched(store);
    kept(StoppedFlushes.of(store));
    String large = "{\"a\":\"" + "x".repeat(500_000) + "\"}";
    // One after the other: what is committed together fills one memtable, however large it is.
    assertFires(
        "LectusWritesStalled", server, () -> client(server.request("POST", "/w").json(large)));
  }

  @Test
  void writes_that_wait_behind_a_commit() {
    HeldCommits commits = new HeldCommits();
    LectusServer server = watched(kept(commits.open(folder)), new TestSettings().oneExecutor(1));
    commits.hold();
    kept(commits::release);
    String put = "PUT /w/a?batch=ok HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}";
    Connection client = kept(server.connect());
    for (int i = 0; i < 12; i++) {
      client.write(put.repeat(100));
      for (int answered = 0; answered < 100; answered++) {
        client.read(false).expect(202);
      }
    }

    assertFires("LectusWritesQueueUp", server);
  }

  @Test
  void commits_without_an_answer() {
    FaultyStore store = new FaultyStore(stores.fresh(), true);
    LectusServer server = watched(store.store());

    assertFires(
        "LectusUnknownCommits",
        server,
        () -> {
          store.plan(Fault.UNKNOWN_BUT_STORED);
          server.post("/w", "{}");
        });
  }

  @Test
  void transactions_that_conflict() {
    FaultyStore store = new FaultyStore(stores.fresh());
    LectusServer server = watched(store.store());

    assertFires(
        "LectusConflicts",
        server,
        () -> {
          store.plan(Fault.NOT_COMMITTED, Fault.NOT_COMMITTED, Fault.NOT_COMMITTED);
          server.post("/w", "{}");
        });
  }

  @Test
  void a_feed_that_is_late() {
    FrozenStore store = new FrozenStore(stores.fresh(), false);
    LectusServer server = watched(store.store());
    kept(store::thaw);
    Connection feed = client(server.request("GET", "/w/_changes?feed=continuous&since=now"));
    feed.readHead();

    assertFiresSoon(
        "LectusFeedsLate",
        server,
        () -> {
          store.freeze("lectus-reader");
          server.post("/w", "{}");
          hold(2_500);
          store.thaw();
          assertThat(feed.chunkText()).contains("\"seq\"");
        });
  }

  @Test
  void a_poller_that_gets_no_answer() {
    FrozenStore store = new FrozenStore(stores.fresh(), false);
    LectusServer server = watched(store.store());
    kept(store::thaw);
    client(server.request("GET", "/w/_changes?feed=continuous&since=now")).readHead();
    store.freeze("lectus-poller");

    assertFires("LectusPollerStuck", server);
  }

  @Test
  void writes_of_a_server_outside_the_cluster_and_a_member_that_left() {
    Store store = stores.fresh();
    TestSettings clustered =
        new TestSettings().cluster(new ClusterSettings(Optional.of(ClusterFile.write(folder)), 0));
    LectusServer other = LectusServer.start(store, clustered);
    LectusServer server = watched(store, clustered);
    LectusServer outsider = kept(LectusServer.start(store));
    client(server.request("GET", "/w/_changes?feed=continuous&since=now")).readHead();
    Await.until(
        "Prometheus sees both", () -> prometheus.query("lectus_cluster_members == 2").size() > 0);

    assertFires("LectusEventsLost", server, () -> outsider.post("/w", "{}"));
    other.close();
    assertFires("LectusMemberLost", server);
  }

  @Test
  void a_certificate_that_expires() {
    TestCertificate certificate = TestCertificate.create(folder, "short", "EC", 13);
    TestSettings settings =
        new TestSettings()
            .with(TlsKeys.KEYSTORE, certificate.store())
            .with(TlsKeys.KEYSTORE_PASSWORD, TestCertificate.PASSWORD);
    LectusServer server = kept(LectusServer.start(stores.fresh(), at(Way.TLS, settings)));

    assertFires("LectusCertificateExpires", server);
  }

  @Test
  void requests_beyond_a_limit() {
    // On the port for requests, Prometheus would be refused, too.
    int figures = prometheus.place(Way.METRICS_PORT);
    TestSettings settings =
        new TestSettings()
            .with(MetricsKeys.METRICS_PORT, figures)
            .with(AccessKeys.MAX_REQUESTS_PER_SECOND, 20);
    LectusServer server = kept(LectusServer.start(stores.fresh(), settings));

    assertFires("LectusRefusals", figures, () -> server.get("/"));
  }

  @Test
  void bodies_beyond_the_memory_for_them() {
    TestSettings settings = new TestSettings().bodyMemoryBytes(1 << 20).requestSeconds(1);
    LectusServer server = watched(stores.fresh(), settings);
    String begun = "PUT /w/a HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\n";

    assertFires(
        "LectusMemoryShort",
        server,
        () -> {
          try (Connection one = server.connect();
              Connection other = server.connect()) {
            one.write(begun).write("x".repeat(3_000_000));
            Await.until(
                "the first one holds the memory",
                () -> server.figure("lectus_memory_bytes{account=\"bodies\"}") >= 1 << 20);
            other.write(begun).write("x".repeat(100_000)).read(false).expect(503);
          }
        });
  }

  @Test
  void a_heap_that_is_too_small_for_what_clients_may_hold() {
    int figures = prometheus.place(Way.METRICS_PORT);
    ServerProcess small =
        kept(
            ServerProcess.start(
                folder,
                HEAP_MEGABYTES,
                MetricsKeys.METRICS_PORT.name() + "=" + figures,
                HttpKeys.BODY_MEMORY_BYTES.name() + "=" + 2 * (HEAP_MEGABYTES << 20)));
    String begun = "PUT /w/a HTTP/1.1\r\nHost: host\r\nContent-Length: 4000000\r\n\r\n";

    assertFires(
        "LectusHeapFull",
        figures,
        () -> {
          // Full enough for the alert, and not so full that it could not be told.
          if (heapUse(figures) < 0.87) {
            kept(new Connection(small.port())).write(begun).write("x".repeat(2_000_000));
          }
        });
  }

  /** Returns which part of the heap was in use after its last collection. */
  private static double heapUse(int figures) {
    String text = new Request(figures, "GET", "/metrics").send().body();
    Matcher use = HEAP_USE.matcher(text);
    return use.find() ? Double.parseDouble(use.group(1)) : 0;
  }

  @Test
  void clients_that_answer_no_pings() {
    LectusServer server = watched(stores.fresh(), new TestSettings().impatientWithWebSockets());

    assertFires(
        "LectusClientsGivenUp",
        server,
        () -> {
          Connection socket = kept(server.connect()).write(UPGRADE);
          socket.readHead().expect(101);
        });
  }

  @Test
  void connections_near_their_limit() {
    LectusServer server = watched(stores.fresh(), new TestSettings().maxConnections(20));
    for (int i = 0; i < 19; i++) {
      client(server.request("GET", "/w/_changes?feed=continuous&since=now")).readHead();
    }

    assertFires("LectusConnectionsFull", server);
  }

  @Test
  void guessed_passwords() {
    int figures = prometheus.place(Way.METRICS_PORT);
    TestSettings settings = new TestSettings().with(MetricsKeys.METRICS_PORT, figures);
    LectusServer server = kept(LectusServer.start(stores.fresh(), settings));
    server.put("/_node/_local/_config/admins/root", "\"secret\"");
    byte[] guess = "root:guess".getBytes(StandardCharsets.UTF_8);
    String wrong = "Basic " + Base64.getEncoder().encodeToString(guess);

    assertFires(
        "LectusLogInsLockedOut",
        figures,
        () -> server.request("GET", "/w", "Authorization", wrong).send());
  }

  @Test
  void what_takes_time_holds_with_prometheus_own_clock() throws Exception {
    NodeClients.need(NodeClients.runs("promtool", "--version"), "promtool is not installed");
    assertThat(NodeClients.runs("promtool", "test", "rules", WITH_ITS_CLOCK.toString())).isTrue();
  }

  @Test
  void each_alert_has_a_test_and_a_section_in_the_documentation() throws IOException {
    String tests = Files.readString(Path.of("src/test/java/lectus/deployment/AlertsTest.java"));
    List<String> sections =
        Files.readAllLines(Path.of("docs", "operations.md")).stream()
            .filter(line -> line.startsWith("### "))
            .map(line -> line.substring("### ".length()))
            .toList();
    for (Yaml rule : rules()) {
      String name = rule.at("alert").text();
      assertThat(tests.replaceAll("\\s", "") + Files.readString(WITH_ITS_CLOCK))
          .containsPattern(
              "assertFires(Soon)?\\(\"%1$s\"|alertname: %1$s\\s+exp_alerts".formatted(name));
      assertThat(sections).contains(name);
      assertThat(rule.at("annotations").names())
          .containsExactlyInAnyOrder("summary", "description", "runbook");
      assertThat(rule.at("annotations", "runbook").text())
          .isEqualTo("docs/operations.md#" + name.toLowerCase(Locale.ROOT));
      assertThat(rule.at("labels", "severity").text()).isIn("critical", "warning");
    }
    assertThat(sections.stream().filter(section -> section.startsWith("Lectus")))
        .containsExactlyElementsOf(rules().stream().map(it -> it.at("alert").text()).toList());
  }

  private static List<Yaml> rules() throws IOException {
    return Yaml.of(Path.of("conf", "alerts.yaml")).at("groups").items().get(0).at("rules").items();
  }
}
