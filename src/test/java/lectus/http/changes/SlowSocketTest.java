package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocketFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that read more slowly than rows come. */
final class SlowSocketTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int SUBSCRIPTIONS = 8;
  private static final int SILENT_CLIENTS = 16;
  private static final int DOCUMENTS = 40;
  private static final int DOCUMENT_BYTES = 250_000;

  @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

  @BeforeEach
  void create() {
    server.put("/x");
  }

  private SocketClient client() {
    return SocketClient.connect(server, "/_changes", "lectus.changes.v1");
  }

  private static String subscribe(Object id, String members) {
    return "{\"type\":\"subscribe\",\"id\":\"" + id + "\",\"db\":\"x\"" + members + "}";
  }

  private static void writeLargeDocuments(LectusServer server) {
    String text = "t".repeat(90_000);
    String json = "{\"a\":\"" + text + "\",\"b\":\"" + text + "\",\"c\":\"" + text + "\"}";
    for (int i = 0; i < DOCUMENTS; i++) {
      server.write("/x/d" + i, json);
    }
  }

  /** The rest would have to be held in memory for each subscription. */
  @Test
  void a_client_that_reads_nothing_holds_little_memory_and_nobody_up() {
    writeLargeDocuments(server);
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

  /** Pings say that a client lives, not that it takes what waits for it. */
  @Test
  void clients_that_ping_and_read_nothing_give_way_to_others_who_lack_their_memory() {
    TestSettings little = new TestSettings().pageMemoryBytes(4 << 20).stalledSeconds(1);
    ScheduledExecutorService pings = Executors.newSingleThreadScheduledExecutor();
    List<SocketClient> silent = new ArrayList<>();
    try (LectusServer small = LectusServer.start(stores.fresh(), little)) {
      small.put("/x");
      writeLargeDocuments(small);
      for (int i = 0; i < SILENT_CLIENTS; i++) {
        SocketClient client = SocketClient.connect(small, "/_changes", "lectus.changes.v1");
        silent.add(client);
        client.pause();
        client.send(subscribe("a", ",\"include_docs\":true"));
        Runnable ping = () -> client.send(WebSocketFrame.pingFrame(Buffer.buffer("still here")));
        pings.scheduleAtFixedRate(ping, 100, 100, TimeUnit.MILLISECONDS);
      }
      awaitRefusedPages(small);
      try (SocketClient other = SocketClient.connect(small, "/_changes", "lectus.changes.v1")) {
        other.send(subscribe("a", ",\"include_docs\":true"));
        for (int i = 0; i < DOCUMENTS; i++) {
          other.message("row", "at");
        }
      }
    } finally {
      pings.shutdownNow();
      silent.forEach(SocketClient::close);
    }
  }

  private static void awaitRefusedPages(LectusServer server) {
    String refused = "lectus_memory_refusals_total{account=\"pages\"} ";
    Await.until(
        "pages are refused",
        () ->
            server
                .get("/_node/_local/_prometheus")
                .body()
                .lines()
                .anyMatch(line -> line.startsWith(refused) && !line.endsWith(" 0.0")));
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
