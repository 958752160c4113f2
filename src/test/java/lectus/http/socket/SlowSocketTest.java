package lectus.http.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that read more slowly than rows come. */
@Timeout(120)
final class SlowSocketTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int SUBSCRIPTIONS = 16;
  private static final int DOCUMENTS = 40;
  private static final int DOCUMENT_BYTES = 250_000;

  private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void create() {
    server.put("/x");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private SocketClient client() {
    return SocketClient.connect(server, "/_changes", "lectus.changes.v1");
  }

  private static String subscribe(Object id, String members) {
    return "{\"type\":\"subscribe\",\"id\":\"" + id + "\",\"db\":\"x\"" + members + "}";
  }

  private void writeLargeDocuments() {
    String text = "t".repeat(90_000);
    String json = "{\"a\":\"" + text + "\",\"b\":\"" + text + "\",\"c\":\"" + text + "\"}";
    for (int i = 0; i < DOCUMENTS; i++) {
      server.write("/x/d" + i, json);
    }
  }

  /** The rest would have to be held in memory for each subscription. */
  @Test
  void a_client_that_reads_nothing_holds_little_memory_and_nobody_up() {
    writeLargeDocuments();
    long before = usedBytes();
    try (SocketClient slow = client();
        SocketClient other = client()) {
      slow.pause();
      for (int id = 0; id < SUBSCRIPTIONS; id++) {
        slow.send(subscribe(id, ",\"include_docs\":true"));
      }
      other.send(subscribe("a", ""));
      for (int i = 0; i < DOCUMENTS; i++) {
        other.message("row", "at");
      }
      other.message("caught_up", "at");
      server.write("/x/more", "{}");
      other.message("row", "at");
      readEverything();

      long heldBytes = usedBytes() - before;
      assertThat(heldBytes).isLessThan((long) SUBSCRIPTIONS * DOCUMENTS * DOCUMENT_BYTES / 4);
      slow.resume();
      assertAllCome(slow);
    }
  }

  /** Takes longer than reading what the slow client wanted. */
  private void readEverything() {
    for (int i = 0; i < SUBSCRIPTIONS; i++) {
      assertThat(server.get("/x/_changes?include_docs=true").body())
          .hasSizeGreaterThan(DOCUMENTS * DOCUMENT_BYTES);
    }
  }

  private static void assertAllCome(SocketClient client) {
    Map<String, Integer> rows = new HashMap<>();
    for (int i = 0; i < SUBSCRIPTIONS * (DOCUMENTS + 1); ) {
      String message = client.text();
      if (message.startsWith("{\"type\":\"row\"")) {
        rows.merge(message.substring(0, message.indexOf(",\"db\"")), 1, Integer::sum);
        i++;
      }
    }
    assertThat(rows).hasSize(SUBSCRIPTIONS);
    assertThat(rows.values()).containsOnly(DOCUMENTS + 1);
  }

  private static long usedBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /** Four histories are read at a time; the fifth subscription gets its turn before they end. */
  @Test
  void long_histories_do_not_keep_a_short_one_waiting() {
    String ids =
        IntStream.range(0, 20_000)
            .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
            .collect(Collectors.joining(","));
    server.post("/x/_bulk_docs", "{\"docs\":[" + ids + "]}");
    String nearEnd = sequenceOfLastButTwo();
    try (SocketClient client = client()) {
      for (int id = 0; id < 4; id++) {
        client.send(subscribe(id, ""));
      }
      client.send(subscribe("short", ",\"since\":\"" + nearEnd + "\""));

      String message = client.text();
      while (!message.startsWith("{\"type\":\"caught_up\"")) {
        message = client.text();
      }
      assertThat(message).contains("\"id\":\"short\"");
    }
  }

  private String sequenceOfLastButTwo() {
    String body = server.get("/x/_changes?descending=true&limit=3").body();
    int from = body.lastIndexOf("\"seq\":\"") + 7;
    return body.substring(from, body.indexOf('"', from));
  }
}
