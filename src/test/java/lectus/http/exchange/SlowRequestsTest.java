package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lectus.config.LogKeys;
import lectus.config.WorkerKeys;
import lectus.http.exchange.BodyDeadlines.Pace;
import lectus.http.exchange.RequestTiming.SlowRequests;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.metrics.LogFormat.SentText;
import lectus.store.FrozenStore;
import lectus.store.HeldCommits;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Requests that had to wait, and bodies that do not arrive or too slowly. */
final class SlowRequestsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** What the log says of requests that had to wait, for each thing that they may wait for. */
  @Nested
  class Logged {
    private static final int SLOW_MILLIS = 100;
    private static final long HOLD_MICROS = TimeUnit.MILLISECONDS.toMicros(2 * SLOW_MILLIS);

    @TempDir private Path folder;

    @AutoClose private final LogLines log = LogLines.of("lectus.slow");

    private static TestSettings settings() {
      return new TestSettings().with(LogKeys.SLOW_MILLIS, SLOW_MILLIS).oneExecutor(1);
    }

    /** The condition is the time that has passed: what is held is held for so long at least. */
    private static void hold() {
      long begun = System.nanoTime();
      Await.until(
          "it was held long enough",
          () -> System.nanoTime() - begun > TimeUnit.MICROSECONDS.toNanos(HOLD_MICROS));
    }

    private static void awaitFigure(LectusServer server, String line) {
      Await.until(line, () -> server.get("/_node/_local/_prometheus").body().contains(line));
    }

    /** Returns the fields of the one line about a path. */
    private Map<String, Object> line(String method, String path) {
      Await.until(path + " is in the log", () -> !lines(method, path).isEmpty());
      List<Map<String, Object>> found = lines(method, path);
      assertThat(found).hasSize(1);
      return found.get(0);
    }

    private List<Map<String, Object>> lines(String method, String path) {
      return log.events().stream()
          .map(Logged::fields)
          .filter(fields -> fields.get("path").equals(new SentText(path)))
          .filter(fields -> fields.get("method").equals(new SentText(method)))
          .toList();
    }

    private static Map<String, Object> fields(ILoggingEvent event) {
      Map<String, Object> fields = new HashMap<>();
      event.getKeyValuePairs().forEach(field -> fields.put(field.key, field.value));
      fields.put("message", event.getFormattedMessage());
      return fields;
    }

    private static void assertWaited(Map<String, Object> line, String stage) {
      assertThat((Integer) line.get(stage)).isPositive();
      assertThat((Long) line.get(stage + "_micros")).isGreaterThanOrEqualTo(HOLD_MICROS);
      assertThat((Long) line.get("micros")).isGreaterThanOrEqualTo(HOLD_MICROS);
    }

    @Test
    void a_store_that_is_slow_to_read_and_the_turn_of_who_comes_next() {
      FrozenStore frozen = new FrozenStore(stores.fresh(), false);
      TestSettings settings = settings().with(WorkerKeys.READERS, 1);
      try (LectusServer server = LectusServer.start(frozen.store(), settings)) {
        server.put("/w");
        server.write("/w/a", "{}");
        frozen.freeze("lectus-reader");
        try (Connection first = server.request("GET", "/w/a?conflicts=true").open()) {
          Await.until("the reader waits", () -> frozen.held() > 0);
          try (Connection second = server.request("GET", "/w/b?conflicts=true").open()) {
            awaitFigure(server, "lectus_threads_waiting{threads=\"readers\"} 1");
            hold();
            frozen.thaw();
            first.read(false).expect(200);
            second.read(false).expect(404);
          }
        }
        Map<String, Object> reading = line("GET", "/w/a");
        assertWaited(reading, "read");
        assertWaited(reading, "transaction");
        assertThat(reading).containsEntry("status", 200).containsEntry("db", "w");
        assertThat(reading.get("request").toString()).matches("[0-9a-f]{10}");
        assertThat(reading).doesNotContainKeys("commit", "write_queue", "retry", "user");
        assertWaited(line("GET", "/w/b"), "turn");
      } finally {
        frozen.thaw();
      }
    }

    @Test
    void a_commit_that_takes_long_and_the_writes_behind_it() {
      TestStores.onlyEmbedded();
      HeldCommits commits = new HeldCommits();
      try (Store store = commits.open(folder);
          LectusServer server = LectusServer.start(store, settings())) {
        server.put("/w");
        commits.hold();
        try (Connection first = server.request("PUT", "/w/a").json("{}").open()) {
          Await.until("the commit is held", () -> commits.held() > 0);
          try (Connection second = server.request("PUT", "/w/a").json("{\"b\":1}").open()) {
            awaitFigure(server, "lectus_write_queue_edits{executor=\"0\"} 1");
            hold();
            commits.release();
            first.read(false).expect(201);
            second.read(false).expect(409);
          }
        }
        Await.until("both are in the log", () -> lines("PUT", "/w/a").size() == 2);
        List<Map<String, Object>> both = lines("PUT", "/w/a");
        assertThat(both).anySatisfy(line -> assertWaited(line, "commit"));
        assertThat(both).anySatisfy(line -> assertWaited(line, "write_queue"));
      }
    }

    @Test
    void transactions_that_had_to_run_again_are_counted() {
      TestStores.onlyEmbedded();
      HeldCommits commits = new HeldCommits();
      try (Store store = commits.open(folder);
          LectusServer server = LectusServer.start(store, settings())) {
        server.put("/w");
        commits.hold();
        commits.conflict(2);
        try (Connection client = server.request("PUT", "/w/a").json("{}").open()) {
          hold();
          commits.release();
          client.read(false).expect(201);
        }
        assertThat(line("PUT", "/w/a")).containsEntry("retry", 2).containsEntry("transaction", 1);
      }
    }

    @Test
    void a_client_that_is_slow_to_send() {
      try (LectusServer server = LectusServer.start(stores.fresh(), settings())) {
        server.put("/w");
        try (Connection client = server.connect()) {
          client.write("PUT /w/a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n");
          client.write("Content-Type: application/json\r\nContent-Length: 2\r\n\r\n");
          client.readHead().expect(100);
          client.write("{");
          hold();
          client.write("}");
          client.read(false).expect(201);
        }
        Map<String, Object> line = line("PUT", "/w/a");
        assertWaited(line, "body_in");
        assertThat(line).containsEntry("commit", 1);
      }
    }

    @Test
    void a_client_that_is_slow_to_read() {
      try (LectusServer server = LectusServer.start(stores.fresh(), settings())) {
        server.put("/w");
        String body = "{\"a\":\"" + "x".repeat(2_000_000) + "\"}";
        for (int i = 0; i < 8; i++) {
          server.write("/w/d" + i, body);
        }
        log.clear();
        try (Connection client = new Connection(server.port(), 4_096)) {
          client.write("GET /w/_all_docs?include_docs=true HTTP/1.1\r\nHost: h\r\n");
          client.write("Connection: close\r\n\r\n");
          client.readHead().expect(200);
          hold();
          assertThat(client.readToEnd()).endsWith("\r\n0\r\n\r\n");
        }
        assertWaited(line("GET", "/w/_all_docs"), "socket_out");
      }
    }

    @Test
    void an_account_that_is_long_in_coming() {
      FrozenStore frozen = new FrozenStore(stores.fresh(), false);
      try (LectusServer server = LectusServer.start(frozen.store(), settings())) {
        server.put("/w");
        server.put("/_node/_local/_config/admins/root", "\"secret\"");
        frozen.freeze();
        try (Connection client =
            server.request("GET", "/w", "Authorization", "Basic YTpi").open()) {
          Await.until("the account is looked up", () -> frozen.held() > 0);
          hold(); // the request may come while it is held already
          hold();
          frozen.thaw();
          client.read(false).expect(401);
        }
        assertThat((Integer) line("GET", "/w").get("log_in")).isPositive();
      } finally {
        frozen.thaw();
      }
    }

    @Test
    void without_a_threshold_and_of_feeds_nothing_is_said() {
      FrozenStore frozen = new FrozenStore(stores.fresh(), false);
      try (LectusServer watched = LectusServer.start(frozen.store(), settings());
          LectusServer server = LectusServer.start(frozen.store())) {
        server.put("/w");
        try (Connection feed = watched.connect()) {
          feed.write("GET /w/_changes?feed=continuous HTTP/1.1\r\nHost: h\r\n\r\n");
          feed.readHead().expect(200);
          frozen.freeze("lectus-reader");
          try (Connection client = server.request("GET", "/w/a?conflicts=true").open()) {
            Await.until("a reader waits", () -> frozen.held() > 0);
            hold();
            frozen.thaw();
            client.read(false).expect(404);
          }
        }
      } finally {
        frozen.thaw();
      }
      assertThat(log.events()).isEmpty();
    }

    @Test
    void when_all_are_slow_some_have_to_do() {
      AtomicLong nanoTime = new AtomicLong(-5);
      SlowRequests slow = new SlowRequests(1, nanoTime::get);
      for (int second = 0; second < 3; second++) {
        for (int i = 0; i < SlowRequests.MAX_PER_SECOND; i++) {
          assertThat(slow.mayLog()).isTrue();
        }
        assertThat(slow.mayLog()).isFalse();
        nanoTime.addAndGet(Duration.ofMillis(999).toNanos());
        assertThat(slow.mayLog()).isFalse();
        nanoTime.addAndGet(Duration.ofMillis(1).toNanos());
      }
    }
  }

  /** Bodies that do not arrive, or too slowly, second by second. */
  @Nested
  class SlowBodies {
    private static final int GRACE = 3;

    @AutoClose
    private final LectusServer server =
        LectusServer.start(stores.fresh(), new TestSettings().slowBodySeconds(1));

    private boolean othersWait;

    private final Pace pace = new Pace(GRACE, () -> othersWait, () -> {});

    @BeforeEach
    void create() {
      server.put("/w");
    }

    private Connection begin(String id, int length) {
      return server.request("PUT", "/w/" + id, "Content-Length", "" + length).open();
    }

    @Test
    void a_body_that_stops_coming_is_408_and_its_connection_ends() {
      try (Connection client = begin("a", 100)) {
        Answer answer = client.write("{\"v\":").read(false).expect(408);
        assertThat(answer.header("connection")).isEqualTo("close");
        answer.expect(
            "{\"error\":\"request_timeout\","
                + "\"reason\":\"The request's body arrives too slowly.\"}\n");
        assertThat(client.isAtEnd()).isTrue();
      }
      server.get("/w/a").expect(404);
    }

    /** It has sent enough for an hour before it pauses for longer than the grace period. */
    @Test
    void one_that_has_come_fast_enough_may_rest() {
      String begun = "{\"v\":\"" + "x".repeat(3_600 * Pace.MIN_RATE);
      try (Connection client = begin("b", begun.length() + 2);
          Connection silent = begin("a", 100)) {
        client.write(begun);
        silent.read(false).expect(408);

        client.write("\"}").read(false).expect(201);
      }
    }

    private boolean isTooSlowAfter(int seconds) {
      for (int second = 1; second < seconds; second++) {
        assertThat(pace.isTooSlow()).as("after %d s", second).isFalse();
      }
      return pace.isTooSlow();
    }

    @Test
    void nothing_at_all_is_too_slow_behind_the_grace() {
      assertThat(isTooSlowAfter(GRACE + 1)).isTrue();
    }

    @Test
    void what_came_in_the_grace_counts() {
      pace.arrived(5 * Pace.MIN_RATE);

      assertThat(isTooSlowAfter(GRACE + 6)).isTrue();
    }

    @Test
    void one_that_was_fast_rests_for_five_minutes_and_not_longer() {
      pace.arrived(1 << 30);

      assertThat(isTooSlowAfter(Pace.LONGEST_REST_SECONDS + 1)).isTrue();
    }

    @Test
    void the_least_rate_is_enough_and_a_byte_less_is_not() {
      pace.arrived(Pace.MIN_RATE);
      for (int second = 0; second < 100; second++) {
        assertThat(pace.isTooSlow()).isFalse();
        pace.arrived(second < GRACE ? 0 : Pace.MIN_RATE);
      }
      Pace slower = new Pace(GRACE, () -> othersWait, () -> {});
      slower.arrived(Pace.MIN_RATE - 1);
      for (int second = 0; second < GRACE; second++) {
        assertThat(slower.isTooSlow()).isFalse();
      }
      assertThat(slower.isTooSlow()).isTrue();
    }

    @Test
    void while_others_wait_for_its_memory_it_has_to_come_faster() {
      othersWait = true;
      for (int second = 0; second < 10; second++) {
        pace.arrived(Pace.RATE_BEFORE_OTHERS);
        assertThat(pace.isTooSlow()).isFalse();
      }
      for (int second = 0; second < Pace.SECONDS_BEFORE_OTHERS; second++) {
        pace.arrived(Pace.RATE_BEFORE_OTHERS - 1);
        assertThat(pace.isTooSlow()).isFalse();
      }
      othersWait = false;
      assertThat(pace.isTooSlow()).isFalse();
      othersWait = true;
      assertThat(isTooSlowAfter(Pace.SECONDS_BEFORE_OTHERS + 1)).isTrue();
    }
  }
}
