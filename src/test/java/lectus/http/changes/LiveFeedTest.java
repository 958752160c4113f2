package lectus.http.changes;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.HeldReads;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Long polls, continuous feeds and event sources, byte for byte. */
final class LiveFeedTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private Connection feed(String query) {
    return server.request("GET", "/w/_changes?" + query).open();
  }

  @Test
  void a_long_poll_is_answered_before_its_connection_is_closed_for_want_of_traffic() {
    TestSettings settings = new TestSettings().idleTimeoutSeconds(12);
    try (LectusServer impatient = LectusServer.start(stores.fresh(), settings)) {
      impatient.put("/w");
      assertThat(impatient.get("/w/_changes?feed=longpoll&since=now&timeout=60000").body())
          .contains("\"last_seq\":");
    }
  }

  @Test
  void a_long_poll_answers_at_once_if_there_is_something() {
    server.write("/w/a", "{}");
    server.write("/w/b", "{}");

    Answer answer =
        server.get("/w/_changes?feed=longpoll").expect(server.get("/w/_changes").body());
    assertThat(answer.isChunked()).isTrue();
  }

  @Test
  void a_long_poll_wakes_on_a_write() {
    server.write("/w/a", "{}");
    try (Connection feed = feed("feed=longpoll&since=now")) {
      feed.readHead().expect(200);
      assertThat(feed.chunkText()).isEqualTo("{\"results\":[\n");
      String rev = server.write("/w/b", "{}");

      assertThat(feed.rest())
          .matches(
              "\\{\"seq\":\"[0-9a-f]+\",\"id\":\"b\",\"changes\":\\[\\{\"rev\":\""
                  + rev
                  + "\"}]}\n],\n\"last_seq\":\"[0-9a-f]+\",\"pending\":0}\n");
    }
  }

  @Test
  void a_long_poll_ends_after_its_timeout() {
    server.write("/w/a", "{}");
    String last = server.get("/w").member("update_seq");

    server
        .get("/w/_changes?feed=longpoll&since=now&timeout=50")
        .expect("{\"results\":[\n\n],\n\"last_seq\":\"" + last + "\",\"pending\":0}\n");
  }

  @Test
  void a_long_poll_with_heartbeats_goes_on_beyond_its_timeout() {
    try (Connection feed = feed("feed=longpoll&since=now&timeout=1&heartbeat=20")) {
      feed.readHead();
      assertThat(feed.chunkText()).isEqualTo("{\"results\":[\n");
      for (int beats = 0; beats < 2; beats++) {
        assertThat(feed.chunkText()).isEqualTo("\n");
      }
      server.write("/w/b", "{}");

      assertThat(feed.rest()).contains("\"id\":\"b\"").endsWith("\"pending\":0}\n");
    }
  }

  @Test
  void a_continuous_feed_has_a_line_for_each_row() {
    String a = server.write("/w/a", "{}");
    try (Connection feed = feed("feed=continuous&heartbeat=10000")) {
      Answer head = feed.readHead();
      assertThat(head.header("content-type")).isEqualTo("application/json");
      assertThat(feed.chunkText())
          .matches(
              "\\{\"seq\":\"[0-9a-f]+\",\"id\":\"a\",\"changes\":\\[\\{\"rev\":\"" + a + "\"}]}\n");
      for (int i = 0; i < 20; i++) {
        server.write("/w/d" + i, "{}");
        assertThat(feed.chunkText()).contains("\"id\":\"d" + i + "\"").endsWith("}]}\n");
      }
    }
  }

  @Test
  void an_idle_continuous_feed_beats() {
    try (Connection feed = feed("feed=live&heartbeat=20")) {
      feed.readHead();
      for (int beats = 0; beats < 2; beats++) {
        assertThat(feed.chunkText()).isEqualTo("\n");
      }
    }
  }

  @Test
  void a_continuous_feed_ends_by_its_limit() {
    server.write("/w/a", "{}");
    server.write("/w/b", "{}");
    server.write("/w/c", "{}");
    try (Connection feed = feed("feed=continuous&limit=2")) {
      feed.readHead();
      assertThat(feed.rest())
          .matches(
              "\\{.*\"id\":\"a\".*}\n\\{.*\"id\":\"b\".*}\n"
                  + "\\{\"last_seq\":\"[0-9a-f]+\",\"pending\":1}\n");
    }
  }

  @Test
  void a_continuous_feed_ends_by_its_timeout() {
    try (Connection feed = feed("feed=continuous&timeout=50")) {
      feed.readHead();
      assertThat(feed.rest()).isEqualTo("{\"last_seq\":\"0\",\"pending\":0}\n");
    }
  }

  @Test
  void filters_hold_in_live_feeds() {
    try (Connection feed =
        server
            .request("POST", "/w/_changes?feed=continuous&filter=_doc_ids&limit=1")
            .json("{\"doc_ids\":[\"b\"]}")
            .open()) {
      feed.readHead();
      server.write("/w/a", "{}");
      server.write("/w/b", "{\"v\":1}");

      assertThat(feed.rest()).contains("\"id\":\"b\"").doesNotContain("\"id\":\"a\"");
    }
  }

  @Test
  void deleting_the_database_ends_its_feeds_in_order() {
    server.write("/w/a", "{}");
    String last = server.get("/w").member("update_seq");
    try (Connection continuous = feed("feed=continuous&since=now&heartbeat=10000");
        Connection longPoll = feed("feed=longpoll&since=now&heartbeat=10000")) {
      continuous.readHead();
      longPoll.readHead();
      assertThat(longPoll.chunkText()).isEqualTo("{\"results\":[\n");
      server.delete("/w");
      server.put("/w");
      server.write("/w/new", "{}");

      assertThat(continuous.rest()).isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}\n");
      assertThat(longPoll.rest()).isEqualTo("\n],\n\"last_seq\":\"" + last + "\",\"pending\":0}\n");
    }
  }

  /** Every write while the feed starts, catches up and is live arrives once. */
  @Test
  void no_row_is_lost_between_reading_and_listening() throws InterruptedException {
    int count = 400;
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < count; i++) {
                server.write("/w/d" + i, "{}");
              }
            });
    writer.start();
    try (Connection feed = feed("feed=continuous&heartbeat=10000&limit=" + count)) {
      feed.readHead();
      String rows = feed.rest();
      for (int i = 0; i < count; i++) {
        assertThat(rows).containsOnlyOnce("\"id\":\"d" + i + "\"");
      }
    }
    writer.join();
  }

  @Test
  void a_client_that_goes_away_is_forgotten() {
    for (int i = 0; i < 20; i++) {
      try (Connection feed = feed("feed=continuous&heartbeat=10000")) {
        feed.readHead();
      }
    }
    // A new feed still gets writes: dead clients do not use up the feeds' share of the threads.
    try (Connection feed = feed("feed=continuous&since=now&limit=1&heartbeat=10000")) {
      feed.readHead();
      server.write("/w/a", "{}");
      assertThat(feed.rest()).contains("\"id\":\"a\"");
    }
  }

  private Request events(String query) {
    return server.request("GET", "/w/_changes?feed=eventsource" + query);
  }

  private static String event(String seq, String id, String rev) {
    return json("data: {'seq':'%s','id':'%s','changes':[{'rev':'%s'}]}\nid: '%s'\n\n")
        .formatted(seq, id, rev, seq);
  }

  private String lastSequence() {
    return server.get("/w").member("update_seq");
  }

  @Test
  void each_row_is_an_event_with_its_sequence() {
    String a = server.write("/w/a", "{}");
    String seqA = lastSequence();
    try (Connection feed = events("").open()) {
      Answer head = feed.readHead().expect(200);
      assertThat(head.header("content-type")).isEqualTo("text/event-stream");
      assertThat(head.header("cache-control")).isEqualTo("no-cache");
      assertThat(feed.chunkText()).isEqualTo(event(seqA, "a", a));
      String b = server.write("/w/b", "{}");
      assertThat(feed.chunkText()).isEqualTo(event(lastSequence(), "b", b));
    }
  }

  @Test
  void a_heartbeat_is_an_event_without_data() {
    try (Connection feed = events("&heartbeat=20").open()) {
      feed.readHead();
      assertThat(feed.chunkText()).isEqualTo("event: heartbeat\ndata: \nid: \"0\"\n\n");
      assertThat(feed.chunkText()).isEqualTo("event: heartbeat\ndata: \nid: \"0\"\n\n");
    }
  }

  @Test
  void nothing_stands_at_its_end() {
    String a = server.write("/w/a", "{}");
    String seqA = lastSequence();
    server.write("/w/b", "{}");

    assertThat(events("&limit=1").send().body()).isEqualTo(event(seqA, "a", a));
    assertThat(events("&since=now&timeout=20").send().body()).isEmpty();
  }

  @Test
  void proxies_are_told_to_pass_rows_on_as_they_come() {
    for (String form : new String[] {"eventsource", "continuous", "longpoll"}) {
      String target = "/w/_changes?feed=" + form + "&timeout=20";
      assertThat(server.get(target).header("x-accel-buffering")).isEqualTo("no");
    }
  }

  @Test
  void last_event_id_counts_before_since_and_in_this_feed_only() {
    server.write("/w/a", "{}");
    String seqA = lastSequence();
    String b = server.write("/w/b", "{}");
    String onlyB = event(lastSequence(), "b", b);
    for (String id : new String[] {seqA, '"' + seqA + '"'}) {
      assertThat(events("&since=0&limit=1").header("Last-Event-ID", id).send().body())
          .isEqualTo(onlyB);
    }

    assertThat(server.request("GET", "/w/_changes", "Last-Event-ID", seqA).send().body())
        .contains("\"id\":\"a\"");
    assertThat(
            server
                .request("GET", "/w/_changes?feed=continuous&limit=1", "Last-Event-ID", "nonsense")
                .send()
                .body())
        .contains(json("'id':'a'"));
    events("").header("Last-Event-ID", "nonsense").send().expect(400);
  }

  /** The delivery lag among the figures is what a client measures of the same rows. */
  @Nested
  class DeliveryLag {
    @RegisterExtension static final TestStores stores = new TestStores();

    private static final int ROWS = 20;
    private static final long HELD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final HeldReads reads = new HeldReads(stores.fresh());
    private final LectusServer server = LectusServer.start(reads.store());

    @AfterEach
    void stop() {
      reads.release();
      server.close();
    }

    private double figure(String suffix) {
      String start = "lectus_feed_delivery_lag_seconds" + suffix + " ";
      return server
          .get("/_node/_local/_prometheus")
          .body()
          .lines()
          .filter(line -> line.startsWith(start))
          .mapToDouble(line -> Double.parseDouble(line.substring(start.length())))
          .sum();
    }

    /** Readers are held up, so that the rows come late by a time that both sides can see. */
    @Test
    void it_is_what_a_client_measures() {
      server.put("/w");
      try (Connection feed =
          server.request("GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000").open()) {
        feed.readHead();
        server.write("/w/first", "{}");
        assertThat(feed.chunkText()).contains("first");
        double count = figure("_count");
        double sum = figure("_sum");

        reads.hold();
        List<Long> sent = new ArrayList<>();
        List<Long> answered = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
          sent.add(System.nanoTime());
          server.write("/w/d" + i, "{}");
          answered.add(System.nanoTime());
        }
        while (System.nanoTime() - answered.get(ROWS - 1) < HELD_NANOS) {
          LockSupport.parkNanos(HELD_NANOS / 10);
        }
        double least = seconds(answered, Collections.nCopies(ROWS, System.nanoTime()));
        reads.release();
        double most = seconds(sent, arrivals(feed));

        assertThat(figure("_count") - count).isEqualTo(ROWS);
        assertThat(figure("_sum") - sum).isBetween(0.9 * least, 1.1 * most);
      }
    }

    /** Returns all the time between beginnings and ends. */
    private static double seconds(List<Long> beginnings, List<Long> ends) {
      return IntStream.range(0, ROWS).mapToLong(i -> ends.get(i) - beginnings.get(i)).sum() / 1e9;
    }

    private static List<Long> arrivals(Connection feed) {
      List<Long> arrivals = new ArrayList<>();
      while (arrivals.size() < ROWS) {
        String rows = feed.chunkText();
        long now = System.nanoTime();
        rows.lines().filter(line -> line.contains("\"id\":\"d")).forEach(line -> arrivals.add(now));
      }
      return arrivals;
    }
  }
}
