package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.SocketClient;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A right is taken away in the midst of writes: what is written afterwards is never shown. */
final class RevokingWhileWritingTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int ROUNDS = 12;
  private static final Pattern DOCUMENT = Pattern.compile("\"id\":\"doc(\\d+)\"");

  private final Store store = stores.fresh();
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicBoolean over = new AtomicBoolean();
  private final List<Thread> writers = new ArrayList<>();
  private LectusServer server;
  private Member root;
  private Member ann;

  @BeforeEach
  void start() {
    Member.makeAdmin(store, "root");
    server = LectusServer.start(store);
    root = new Member(server, "root");
    ann = new Member(server, "ann");
    root.request("PUT", "/_users").send();
    root.user("ann");
    root.database("user-a", "ann");
    for (int i = 0; i < 2; i++) {
      Thread writer = new Thread(this::write);
      writers.add(writer);
      writer.start();
    }
  }

  private void write() {
    while (!over.get()) {
      root.write("/user-a/doc" + begun.incrementAndGet(), "{}");
    }
  }

  @AfterEach
  void stop() throws InterruptedException {
    over.set(true);
    for (Thread writer : writers) {
      writer.join();
    }
    server.close();
  }

  /** Takes the right away, and returns the last document whose write had begun by then. */
  private int revoke() {
    root.admit("user-a");
    return begun.get();
  }

  private static void assertNoneBehind(int last, String rows) {
    Matcher documents = DOCUMENT.matcher(rows);
    while (documents.find()) {
      assertThat(Integer.parseInt(documents.group(1))).isLessThanOrEqualTo(last);
    }
  }

  @Test
  void a_continuous_feed_shows_nothing_that_was_written_later() {
    for (int round = 0; round < ROUNDS; round++) {
      root.admit("user-a", "ann");
      try (Connection feed =
          ann.request("GET", "/user-a/_changes?feed=continuous&since=now&heartbeat=60000").open()) {
        feed.readHead().expect(200);
        StringBuilder rows = new StringBuilder(feed.chunkText());
        int last = revoke();
        for (String chunk = feed.chunkText(); !chunk.isEmpty(); chunk = feed.chunkText()) {
          rows.append(chunk);
        }
        assertThat(rows).contains("\"error\":\"forbidden\"");
        assertNoneBehind(last, rows.toString());
      }
    }
  }

  @Test
  void a_web_socket_shows_nothing_that_was_written_later() {
    for (int round = 0; round < ROUNDS; round++) {
      root.admit("user-a", "ann");
      try (SocketClient feed = ann.socket("/user-a/_changes?since=now")) {
        StringBuilder rows = new StringBuilder(feed.text());
        int last = revoke();
        assertThat(feed.closeCode()).isEqualTo(1008);
        for (String row = feed.poll(); row != null; row = feed.poll()) {
          rows.append(row);
        }
        assertNoneBehind(last, rows.toString());
      }
    }
  }

  /** A pattern does not end; so a database that is still readable says when enough was heard. */
  @Test
  void a_pattern_shows_nothing_that_was_written_later() {
    root.database("user-b", "ann");
    try (Conversation client = ann.conversation()) {
      client.subscribe("a", "'db':'user-*','since':'now'");
      for (int round = 0; round < ROUNDS; round++) {
        root.admit("user-a", "ann");
        String row = client.socket().text();
        while (!row.contains("\"db\":\"user-a\"")) {
          row = client.socket().text();
        }
        int last = revoke();
        root.write("/user-b/end" + round, "{}");
        StringBuilder rows = new StringBuilder();
        for (row = ""; !row.contains("\"end" + round + "\""); row = client.socket().text()) {
          rows.append(row);
        }
        assertNoneBehind(last, rows.toString());
      }
    }
  }
}
