package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code descending=true} in live feeds: newest first, then the end. */
@Timeout(60)
final class NewestFirstTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String feed(String query) {
    return server.get("/w/_changes?descending=true&" + query).body();
  }

  /** Of all lines that have one. */
  private static List<String> members(String body, String name) {
    List<String> found = new ArrayList<>();
    String[] parts = body.split("\"" + name + "\":\"");
    for (int part = 1; part < parts.length; part++) {
      found.add(parts[part].substring(0, parts[part].indexOf('"')));
    }
    return found;
  }

  private void write(String... ids) {
    for (String id : ids) {
      server.write("/w/" + id, "{}");
    }
  }

  @Test
  void a_long_poll_is_the_answer_of_the_normal_feed() {
    write("a", "b", "c");
    assertThat(feed("feed=longpoll")).isEqualTo(feed("feed=normal"));
    assertThat(feed("feed=longpoll&limit=2")).isEqualTo(feed("feed=normal&limit=2"));
    assertThat(feed("feed=longpoll&since=now")).isEqualTo(feed("feed=normal&since=now"));
  }

  @Test
  void a_continuous_feed_ends_behind_the_oldest_row() {
    write("a", "b", "c");
    String body = feed("feed=continuous&heartbeat=true");
    assertThat(members(body, "id")).containsExactly("c", "b", "a");
    String oldest = members(body, "seq").get(2);
    assertThat(body).endsWith("{\"last_seq\":\"" + oldest + "\",\"pending\":0}\n");
    assertThat(members(feed("feed=continuous&limit=1"), "id")).containsExactly("c");
    assertThat(members(feed("feed=continuous&limit=100"), "id")).containsExactly("c", "b", "a");
  }

  @Test
  void rows_of_several_pages_are_those_of_the_normal_feed() {
    String many =
        IntStream.range(0, 5_000)
            .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
            .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    server.post("/w/_bulk_docs", many);
    assertThat(members(feed("feed=continuous"), "seq"))
        .hasSize(5_000)
        .isEqualTo(members(feed("feed=normal"), "seq"));
    assertThat(members(feed("feed=continuous&filter=_doc_ids&doc_ids=[\"d1\",\"d4999\"]"), "id"))
        .containsExactly("d4999", "d1");
  }

  @Test
  void an_empty_database_ends_at_once() {
    assertThat(feed("feed=continuous&heartbeat=true"))
        .isEqualTo("{\"last_seq\":\"0\",\"pending\":0}\n");
    assertThat(feed("feed=longpoll&heartbeat=true")).isEqualTo(feed("feed=normal"));
    assertThat(feed("feed=eventsource")).isEmpty();
  }

  @Test
  void a_filter_that_lets_nothing_through_ends_at_the_oldest_entry() {
    write("a", "b");
    String body = feed("feed=continuous&filter=_design");
    String oldest = members(feed("feed=normal"), "seq").get(1);
    assertThat(body).isEqualTo("{\"last_seq\":\"" + oldest + "\",\"pending\":0}\n");
  }

  @Test
  void until_bounds_the_newest_row() {
    write("a", "b", "c");
    String second = members(feed("feed=normal"), "seq").get(1);
    assertThat(members(feed("feed=continuous&until=" + second), "id")).containsExactly("b", "a");
  }

  @Test
  void a_browser_that_comes_again_is_shown_the_older_rows_and_then_sent_away() {
    write("a", "b", "c");
    String body = feed("feed=eventsource");
    assertThat(members(body, "id")).startsWith("c");
    List<String> seqs = members(body, "seq");
    Answer rest =
        server
            .request("GET", "/w/_changes?descending=true&feed=eventsource")
            .header("Last-Event-ID", seqs.get(1))
            .send();
    assertThat(members(rest.body(), "seq")).containsExactly(seqs.get(2));
    Answer over =
        server
            .request("GET", "/w/_changes?descending=true&feed=eventsource")
            .header("Last-Event-ID", seqs.get(2))
            .send();
    assertThat(over.status()).isEqualTo(204);
  }

  @Test
  void a_socket_is_closed_behind_the_oldest_row() {
    write("a", "b");
    try (SocketClient socket = SocketClient.connect(server, "/w/_changes?descending=true")) {
      assertThat(socket.text()).contains("\"id\":\"b\"");
      assertThat(socket.text()).contains("\"id\":\"a\"");
      assertThat(socket.text()).startsWith("{\"last_seq\":");
      assertThat(socket.closeCode()).isEqualTo(1000);
    }
  }

  @Test
  void the_updates_of_the_store_end_behind_the_oldest_one() {
    write("a");
    String normal = server.get("/_db_updates?descending=true").body();
    String continuous = server.get("/_db_updates?descending=true&feed=continuous").body();
    assertThat(members(continuous, "seq")).isEqualTo(members(normal, "seq")).hasSize(2);
    assertThat(server.get("/_db_updates?descending=true&feed=longpoll").body()).isEqualTo(normal);
    String oldest = members(normal, "seq").get(1);
    assertThat(
            members(
                server.get("/_db_updates?descending=true&feed=continuous&until=" + oldest).body(),
                "seq"))
        .containsExactly(oldest);
  }

  @Test
  void a_shard_is_shown_newest_first() {
    write("a", "b");
    assertThat(
            members(
                server.get("/w/_changes/0?descending=true&feed=continuous&timeout=1000").body(),
                "id"))
        .containsExactly("b", "a");
  }
}
