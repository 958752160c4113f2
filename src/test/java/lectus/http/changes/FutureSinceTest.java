package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import lectus.database.Sequence;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every feed refuses a sequence that was not reached yet, which does not affect other feeds. */
final class FutureSinceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private static final String NORMAL = "";
  private static final String LONG_POLL = "&feed=longpoll";
  private static final String CONTINUOUS = "&feed=continuous";
  private static final String EVENTS = "&feed=eventsource";

  private String sequence;
  private String shard;

  @BeforeEach
  void write() {
    server.put("/w");
    server.write("/w/a", "{}");
    sequence = server.get("/w").member("update_seq");
    String shards = server.get("/w/_changes/_meta").body();
    shard = shards.replaceAll("(?s).*\"shards\":\\[\"([^\"]+)\"].*", "$1");
  }

  /** Returns a position in the whole store, hours ahead of any that the test may reach. */
  private String laterInStore() {
    byte[] at = Sequence.parse(sequence).orElseThrow().versionstamp();
    at[2]++;
    return Sequence.of(0, Arrays.copyOf(at, 10), 0).toString().substring(2);
  }

  private String laterInDatabase() {
    return sequence.substring(0, 2) + laterInStore();
  }

  /**
   * Returns a sequence of an Incarnation that the database does not have, at a commit that it has.
   */
  private String ofLaterIncarnation() {
    Sequence reached = Sequence.parse(sequence).orElseThrow();
    return new Sequence(reached.incarnation() + 1, reached.versionstamp()).toString();
  }

  private static void assertRefused(Answer answer) {
    assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(answer.member("reason")).contains("future");
  }

  @ParameterizedTest
  @ValueSource(strings = {NORMAL, LONG_POLL, CONTINUOUS, EVENTS, "&limit=0", "&until=now"})
  void of_a_database_and_a_shard(String form) {
    for (String since : List.of(laterInDatabase(), ofLaterIncarnation())) {
      assertRefused(server.get("/w/_changes?since=" + since + form));
      assertRefused(server.get("/w/_changes/" + shard + "?since=" + since + form));
      assertRefused(server.post("/w/_changes?since=" + since + form, "{}"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {NORMAL, LONG_POLL, CONTINUOUS, EVENTS, "&limit=0", "&until=now"})
  void of_the_updates_of_the_store(String form) {
    assertRefused(server.get("/_db_updates?since=" + laterInStore() + form));
  }

  @Test
  void of_the_list_of_shards() {
    assertRefused(server.get("/w/_changes/_meta?since=" + laterInDatabase()));
    server.get("/w/_changes/_meta?since=" + sequence).expect(200);
  }

  @Test
  void of_a_browser_that_comes_again() {
    assertRefused(
        server
            .request("GET", "/w/_changes?feed=eventsource", "Last-Event-ID", laterInDatabase())
            .send());
    assertRefused(
        server
            .request("GET", "/_db_updates?feed=eventsource", "Last-Event-ID", laterInStore())
            .send());
  }

  @Test
  void of_a_feed_as_a_socket() {
    for (String target :
        List.of("/w/_changes?since=" + laterInDatabase(), "/_db_updates?since=" + laterInStore())) {
      assertRefused(
          server
              .request(
                  "GET",
                  target,
                  "Connection",
                  "Upgrade",
                  "Upgrade",
                  "websocket",
                  "Sec-WebSocket-Version",
                  "13",
                  "Sec-WebSocket-Key",
                  "dGhlIHNhbXBsZSBub25jZQ==")
              .send());
    }
  }

  @Test
  void of_a_subscription() {
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("one", "'db':'w','since':'" + laterInDatabase() + "'");
      client.error("one", "bad_request", true);
      client.subscribe("one", "'db':'w','since':'" + ofLaterIncarnation() + "'");
      client.error("one", "bad_request", true);
      client.subscribe("many", "'db':'w*','since':'" + laterInStore() + "'");
      client.error("many", "bad_request", true);
    }
  }

  /** Nobody else has to wait for a sequence that a client invents. */
  @Test
  void others_with_the_same_options_go_on() {
    server.get("/w/_changes?feed=longpoll&timeout=1&since=" + laterInDatabase());
    try (SocketClient feed = SocketClient.connect(server, "/w/_changes?since=now")) {
      server.get("/w/_changes?feed=longpoll&timeout=1&since=" + laterInDatabase());
      server.write("/w/b", "{}");
      assertThat(feed.text()).contains("\"id\":\"b\"");
      server.write("/w/c", "{}");
      assertThat(feed.text()).contains("\"id\":\"c\"");
    }
  }

  @Test
  void what_is_made_of_a_read_version_is_no_future() {
    String at = positionInStore(server);
    assertThat(at).isGreaterThan(sequence.substring(2));
    String inDatabase = sequence.substring(0, 2) + at;

    server.get("/w/_changes?since=" + inDatabase).expect(200);
    server.get("/_db_updates?since=" + at).expect(200);
    server.get("/w/_changes?feed=longpoll&timeout=1&since=" + inDatabase).expect(200);
    server.write("/w/b", "{}");
    assertThat(server.get("/w/_changes?feed=longpoll&since=" + inDatabase).body())
        .contains("\"id\":\"b\"");
  }

  /** Returns the position of a reader of many databases that has seen all of the store. */
  private static String positionInStore(LectusServer server) {
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("a", "'db':'w*','since':'now'");
      return client.caughtUp("a");
    }
  }

  /** {@code until} is waited for. */
  @Test
  void newest_first_and_bounds_may_lie_ahead() {
    assertThat(server.get("/w/_changes?descending=true&since=" + laterInDatabase()).status())
        .as("which is not looked at")
        .isEqualTo(200);
    assertThat(server.get("/w/_changes?descending=true&until=" + laterInDatabase()).body())
        .contains("\"id\":\"a\"");
    try (Connection feed =
        server.request("GET", "/w/_changes?feed=continuous&until=" + laterInDatabase()).open()) {
      feed.readHead().expect(200);
      assertThat(feed.chunkText()).contains("\"id\":\"a\"");
    }
  }

  /** After a restart, an embedded store's versions are above all that it gave out before. */
  @Test
  void what_was_given_out_before_a_restart_is_no_future(@TempDir Path folder) {
    TestStores.onlyEmbedded();
    String since;
    try (Store store = EmbeddedStores.open(folder);
        LectusServer before = LectusServer.start(store)) {
      before.put("/w");
      before.write("/w/a", "{}");
      since = positionInStore(before);
    }
    try (Store store = EmbeddedStores.open(folder);
        LectusServer after = LectusServer.start(store)) {
      after.get("/_db_updates?since=" + since).expect(200);
      after.get("/_db_updates?feed=longpoll&timeout=1&since=" + since).expect(200);
      String inDatabase = sequence.substring(0, 2) + since;
      after.get("/w/_changes?since=" + inDatabase).expect(200);
      assertRefused(after.get("/w/_changes?since=" + laterInDatabase()));
    }
  }
}
