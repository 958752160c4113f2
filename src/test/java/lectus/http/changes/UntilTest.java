package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lectus.database.ShardTopology.HashScheme;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reading up to and including a sequence, in every form of the feed. */
final class UntilTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private final List<String> seq = new ArrayList<>();

  @BeforeEach
  void write() {
    server.put("/w");
    for (String id : List.of("a", "b", "c")) {
      put(id);
    }
  }

  private void put(String id) {
    server.write("/w/" + id, "{}");
    seq.add(server.get("/w").member("update_seq"));
  }

  private String body(String query) {
    return server.get("/w/_changes?" + query).body();
  }

  private static List<String> ids(String body) {
    List<String> ids = new ArrayList<>();
    for (String part : body.split("\"id\":\"")) {
      ids.add(part.substring(0, Math.max(0, part.indexOf('"'))));
    }
    return ids.subList(1, ids.size());
  }

  @Test
  void a_normal_feed_ends_at_it() {
    String bounded = body("until=" + seq.get(1));
    assertThat(ids(bounded)).containsExactly("a", "b");
    assertThat(bounded)
        .startsWith("{\"results\":[\n{\"seq\":\"" + seq.get(0) + "\"")
        .contains("},\r\n{\"seq\":\"" + seq.get(1) + "\"")
        .endsWith("}]}\n],\n\"last_seq\":\"" + seq.get(1) + "\",\"pending\":1}\n");
    assertThat(body("until=" + seq.get(2))).isEqualTo(body(""));
    assertThat(body("until=now")).isEqualTo(body(""));
    assertThat(body("until=" + seq.get(1) + "&limit=1"))
        .isEqualTo(body("limit=1"))
        .endsWith("\"pending\":2}\n");
    assertThat(body("since=" + seq.get(1) + "&until=" + seq.get(0)))
        .isEqualTo("{\"results\":[\n\n],\n\"last_seq\":\"" + seq.get(1) + "\",\"pending\":0}\n");
    assertThat(body("until=0")).startsWith("{\"results\":[\n\n],\n\"last_seq\":\"0\"");
    assertThat(body("until=" + seq.get(0) + "&limit=0")).contains("\"last_seq\":\"0\"");
    server.get("/w/_changes?until=nonsense").expect(400);
  }

  @Test
  void newest_first_begins_at_it() {
    assertThat(ids(body("descending=true&until=" + seq.get(1)))).containsExactly("b", "a");
    assertThat(ids(body("descending=true&until=" + seq.get(1) + "&limit=1"))).containsExactly("b");
    assertThat(ids(body("descending=true&until=0"))).isEmpty();
  }

  @Test
  void a_document_updated_behind_it_is_not_shown() {
    String before = seq.get(2);
    String rev = server.get("/w/b").member("_rev");
    server.write("/w/b?rev=" + rev, "{}");

    assertThat(ids(body("until=" + before))).containsExactly("a", "c");
  }

  @Test
  void live_feeds_end_at_once_if_it_has_passed() {
    String until = "&until=" + seq.get(1);
    String end = "{\"last_seq\":\"" + seq.get(1) + "\",\"pending\":1}\n";

    assertThat(ids(body("feed=longpoll" + until))).containsExactly("a", "b");
    assertThat(body("feed=longpoll&since=" + seq.get(1) + until))
        .isEqualTo("{\"results\":[\n\n],\n\"last_seq\":\"" + seq.get(1) + "\",\"pending\":0}\n");
    assertThat(ids(body("feed=continuous&heartbeat=true" + until))).containsExactly("a", "b");
    assertThat(body("feed=continuous&heartbeat=true" + until)).endsWith(end);
    assertThat(ids(body("feed=eventsource" + until))).containsExactly("a", "b");
    try (SocketClient socket = SocketClient.connect(server, "/w/_changes?" + until)) {
      assertThat(ids(socket.text() + socket.text())).containsExactly("a", "b");
      assertThat(socket.text() + '\n').isEqualTo(end);
      assertThat(socket.closeCode()).isEqualTo(1000);
    }
  }

  /** The bound is a future sequence: the one that a second database's next write gets. */
  @Test
  void a_live_feed_goes_on_until_it_passes() {
    server.put("/other");
    server.write("/other/x", "{}");
    String future = server.get("/other").member("update_seq");
    try (Connection feed =
        server
            .request("GET", "/w/_changes?feed=continuous&heartbeat=60000&since=now&until=" + future)
            .open()) {
      feed.readHead();
      server.write("/w/d", "{}");

      assertThat(feed.chunkText()).isEqualTo("{\"last_seq\":\"" + future + "\",\"pending\":1}\n");
      assertThat(feed.chunkText()).isEmpty();
    }
  }

  /** Commits to other shards do not wake a shard's readers at once, but they pass the bound. */
  @Test
  void a_reader_of_a_shard_learns_that_the_database_has_passed_it() {
    server.put("/v?changes_shards=2");
    server.put("/other");
    String first = "d0";
    String inOther = null;
    for (int i = 1; inOther == null; i++) {
      inOther = shardOf("d" + i) == shardOf(first) ? null : "d" + i;
    }
    server.write("/v/" + first, "{}");
    server.write("/other/x", "{}");
    String future = server.get("/other").member("update_seq");
    String query = "?feed=continuous&heartbeat=60000&since=now&until=" + future;
    try (Connection feed = server.request("GET", "/v/_changes/" + shardOf(first) + query).open()) {
      feed.readHead();
      server.write("/v/" + inOther, "{}");

      assertThat(feed.chunkText()).startsWith("{\"last_seq\":\"" + future + "\"");
      assertThat(feed.chunkText()).isEmpty();
    }
  }

  private static int shardOf(String id) {
    return HashScheme.JUMP_CRC32.shardOf(id, 2);
  }
}
