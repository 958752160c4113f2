package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Long polls and continuous feeds. */
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
}
