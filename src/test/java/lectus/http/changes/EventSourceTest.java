package lectus.http.changes;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code feed=eventsource}, byte for byte. */
final class EventSourceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private Request feed(String query) {
    return server.request("GET", "/w/_changes?feed=eventsource" + query);
  }

  private static String event(String seq, String id, String rev) {
    return json("data: {'seq':'%s','id':'%s','changes':[{'rev':'%s'}]}\nid: '%s'\n\n")
        .formatted(seq, id, rev, seq);
  }

  private String last() {
    return server.get("/w").member("update_seq");
  }

  @Test
  void each_row_is_an_event_with_its_sequence() {
    String a = server.write("/w/a", "{}");
    String seqA = last();
    try (Connection feed = feed("").open()) {
      Answer head = feed.readHead().expect(200);
      assertThat(head.header("content-type")).isEqualTo("text/event-stream");
      assertThat(head.header("cache-control")).isEqualTo("no-cache");
      assertThat(feed.chunkText()).isEqualTo(event(seqA, "a", a));
      String b = server.write("/w/b", "{}");
      assertThat(feed.chunkText()).isEqualTo(event(last(), "b", b));
    }
  }

  @Test
  void a_heartbeat_is_an_event_without_data() {
    try (Connection feed = feed("&heartbeat=20").open()) {
      feed.readHead();
      assertThat(feed.chunkText()).isEqualTo("event: heartbeat\ndata: \nid: \"0\"\n\n");
      assertThat(feed.chunkText()).isEqualTo("event: heartbeat\ndata: \nid: \"0\"\n\n");
    }
  }

  @Test
  void nothing_stands_at_its_end() {
    String a = server.write("/w/a", "{}");
    String seqA = last();
    server.write("/w/b", "{}");

    assertThat(feed("&limit=1").send().body()).isEqualTo(event(seqA, "a", a));
    assertThat(feed("&since=now&timeout=20").send().body()).isEmpty();
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
    String seqA = last();
    String b = server.write("/w/b", "{}");
    String onlyB = event(last(), "b", b);
    for (String id : new String[] {seqA, '"' + seqA + '"'}) {
      assertThat(feed("&since=0&limit=1").header("Last-Event-ID", id).send().body())
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
    feed("").header("Last-Event-ID", "nonsense").send().expect(400);
  }
}
