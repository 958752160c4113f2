package lectus.http.changes;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.audit.testing.SoundStore;
import lectus.changes.log.LogRows;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code _db_updates}. */
final class DbUpdatesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  @AutoClose private final LectusServer server = LectusServer.start(store);

  private static String row(String name, String type) {
    return "\\{\"db_name\":\"" + name + "\",\"type\":\"" + type + "\",\"seq\":\"[0-9a-f]{24}\"}";
  }

  private Connection feed(String query) {
    return server.request("GET", "/_db_updates?" + query).open();
  }

  @Test
  void the_normal_feed_tells_what_happened_so_far() {
    server.get("/_db_updates").expect("{\"results\":[\n\n],\n\"last_seq\":\"0\"}\n");
    server.put("/a");
    server.put("/b%2Fc");
    server.write("/a/x", "{}");
    server.delete("/b%2Fc");

    Answer feed = server.get("/_db_updates").expect(200);
    assertThat(feed.header("content-type")).isEqualTo("application/json");
    String last = feed.member("last_seq");
    assertThat(feed.body())
        .matches(
            json("\\{'results':\\[\n%s,\r\n(%s,\r\n)?%s,\r\n%s\n],\n'last_seq':'%s'}\n")
                .formatted(
                    row("a", "created"),
                    row("b/c", "created"),
                    row("a", "updated"),
                    row("b/c", "deleted"),
                    last));
    assertThat(LogRows.of(store).get(LogRows.of(store).size() - 1).at()).hasToString(last);
    assertThat(server.get("/_db_updates?since=" + last).body())
        .isEqualTo("{\"results\":[\n\n],\n\"last_seq\":\"" + last + "\"}\n")
        .isEqualTo(server.get("/_db_updates?since=now").body());
    server.post("/_db_updates?since=now", "{}").expect(405);
    assertThat(server.post("/_db_updates?since=now", "{}").header("allow")).isEqualTo("GET");
    assertThat(server.get("/_db_updates?limit=0").body())
        .isEqualTo(json("{'results':[\n\n],\n'last_seq':'0'}\n"))
        .isEqualTo(server.get("/_db_updates?descending=true&limit=0").body());
    assertThat(server.get("/_db_updates?limit=1").body())
        .matches(
            json("\\{'results':\\[\n%s\n],\n'last_seq':'[0-9a-f]{24}'}\n")
                .formatted(row("a", "created")));
    assertThat(server.get("/_db_updates?descending=true&limit=1").body())
        .matches(
            json("\\{'results':\\[\n%s\n],\n'last_seq':'%s'}\n")
                .formatted(row("b/c", "deleted"), last));
    server.head("/_db_updates").expect(200);
  }

  @Test
  void any_sequence_goes_on_behind_it() {
    server.put("/a");
    String created = server.get("/_db_updates").member("last_seq");
    server.write("/a/x", "{}");
    assertThat(server.get("/_db_updates?since=" + created).body())
        .matches("\\{\"results\":\\[\n" + row("a", "updated") + "\n],\n\"last_seq\":\".*\"}\n");
    server
        .get("/_db_updates?since=%22" + created + "%22")
        .expect(server.get("/_db_updates?since=" + created).body());
  }

  @Test
  void a_long_poll_wakes_on_each_kind_of_event() {
    for (String kind : new String[] {"created", "updated", "deleted"}) {
      try (Connection feed = feed("feed=longpoll&since=now")) {
        feed.readHead();
        assertThat(feed.chunkText()).isEqualTo("{\"results\":[\n");
        switch (kind) {
          case "created" -> server.put("/w");
          case "updated" -> server.write("/w/x", "{}");
          default -> server.delete("/w");
        }
        assertThat(feed.rest()).matches(row("w", kind) + "\n],\n\"last_seq\":\"[0-9a-f]{24}\"}\n");
      }
    }
  }

  @Test
  void a_continuous_feed_goes_on_and_ends_with_its_timeout() {
    server.put("/a");
    try (Connection feed = feed("feed=continuous&timeout=2000")) {
      feed.readHead();
      assertThat(feed.chunkText()).matches(row("a", "created") + "\n");
      server.write("/a/x", "{}");
      assertThat(feed.chunkText()).matches(row("a", "updated") + "\n");
      assertThat(feed.rest()).matches("\\{\"last_seq\":\"[0-9a-f]{24}\"}\n");
    }
  }

  @Test
  void a_limit_ends_a_continuous_feed() {
    server.put("/a");
    server.write("/a/x", "{}");
    server.put("/b");
    try (Connection feed = feed("feed=continuous&limit=1")) {
      feed.readHead();
      assertThat(feed.rest())
          .matches(row("a", "created") + "\n\\{\"last_seq\":\"[0-9a-f]{24}\"}\n");
    }
  }

  @Test
  void heartbeats_come_while_nothing_happens() {
    try (Connection feed = feed("feed=continuous&since=now&heartbeat=20")) {
      feed.readHead();
      assertThat(feed.chunkText()).isEqualTo("\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"since=5", "since=xyz", "limit=x", "limit=-2", "feed=foo", "timeout=-1"})
  void a_bad_parameter_is_400(String query) {
    server.get("/_db_updates?" + query).expect(400);
  }

  @Test
  void other_methods_are_not_allowed() {
    server.put("/_db_updates").expect(405);
    server.delete("/_db_updates").expect(405);
  }

  @Test
  void it_comes_as_events_and_over_a_socket_and_up_to_a_bound() {
    server.put("/a");
    String created = server.get("/_db_updates").member("last_seq");
    server.write("/a/x", "{}");
    String updated = server.get("/_db_updates").member("last_seq");

    assertThat(
            server
                .request("GET", "/_db_updates?feed=eventsource&limit=1", "Last-Event-ID", created)
                .send()
                .body())
        .matches("data: " + row("a", "updated") + "\nid: \"" + updated + "\"\n\n");
    try (SocketClient socket = SocketClient.connect(server, "/_db_updates?until=" + created)) {
      assertThat(socket.text()).matches(row("a", "created"));
      assertThat(socket.text()).isEqualTo("{\"last_seq\":\"" + created + "\"}");
      assertThat(socket.closeCode()).isEqualTo(1000);
    }
    String bounded = server.get("/_db_updates?until=" + created).body();
    assertThat(bounded).contains("\"created\"").doesNotContain("\"updated\"");
    server.get("/_db_updates?descending=true&until=" + created).expect(bounded);
    server.get("/_db_updates?until=now").expect(server.get("/_db_updates").body());
  }
}
