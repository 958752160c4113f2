package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The position of a feed advances with the rows that were looked at, even if a filter passes none.
 */
final class FilteredPositionTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
    server.write("/w/before", "{}");
  }

  private String last() {
    return server.get("/w").member("update_seq");
  }

  private static String heartbeat(String at) {
    return "event: heartbeat\ndata: \nid: \"" + at + "\"\n\n";
  }

  @Test
  void heartbeats_of_events_tell_it() {
    try (Connection feed =
        server.request("GET", "/w/_changes?feed=eventsource&heartbeat=20&filter=_design").open()) {
      feed.readHead();
      String before = heartbeat(last());
      Await.until("it is behind what it read by itself", () -> feed.chunkText().equals(before));
      server.write("/w/after", "{}");
      String after = heartbeat(last());
      Await.until("it is behind what the tail read", () -> feed.chunkText().equals(after));
    }
  }

  @Test
  void last_seq_tells_it() {
    for (String form : new String[] {"longpoll", "continuous"}) {
      String query = "?filter=_design&timeout=20&feed=" + form;
      assertThat(server.get("/w/_changes" + query).body())
          .contains("\"last_seq\":\"" + last() + "\",\"pending\":0}");
    }
  }

  @Test
  void heartbeats_and_ends_of_subscriptions_tell_it() {
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("a", "'db':'w','doc_ids':['none'],'heartbeat':20");
      SocketClient socket = client.socket();
      String before = at("heartbeat", last());
      Await.until("it is behind what it read by itself", () -> socket.text().equals(before));
      server.write("/w/after", "{}");
      String after = at("heartbeat", last());
      Await.until("it is behind what the tail read", () -> socket.text().equals(after));
      server.write("/w/last", "{}");
      String end = last();
      String beforeEnd = at("heartbeat", end);
      Await.until("it is behind the last one", () -> socket.text().equals(beforeEnd));
      client.unsubscribe("a");
      Await.until("it ends there", () -> socket.text().equals(at("end", end)));
    }
  }

  private static String at(String type, String at) {
    return "{\"type\":\"" + type + "\",\"id\":\"a\",\"at\":\"" + at + "\"}";
  }
}
