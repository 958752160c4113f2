package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocketFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.store.WatchedStore;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients of sockets cost the store and the server: reads, scans, and memory. */
final class SocketCostTest {
  /** How often the store is read for subscriptions of many sockets. */
  @Nested
  class Reads {
    @RegisterExtension static final TestStores stores = SoundStore.stores();

    private static final int SOCKETS = 4;
    private static final int SUBSCRIPTIONS = 50;

    private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
    private final LectusServer server = LectusServer.start(store.store());
    private final List<SocketClient> clients = new ArrayList<>();

    @BeforeEach
    void connect() {
      server.put("/x");
      for (int i = 0; i < SOCKETS; i++) {
        clients.add(SocketClient.connect(server, "/_changes", "lectus.changes.v1"));
      }
    }

    @AfterEach
    void stop() {
      clients.forEach(SocketClient::close);
      server.close();
    }

    /**
     * @param db a name, a pattern or a list, as JSON
     */
    private void subscribe(String db) {
      for (SocketClient client : clients) {
        for (int id = 0; id < SUBSCRIPTIONS; id++) {
          client.send("{\"type\":\"subscribe\",\"id\":\"" + id + "\",\"db\":" + db + "}");
        }
      }
      clients.forEach(client -> await(client, "caught_up"));
    }

    private static void await(SocketClient client, String type) {
      for (int messages = 0; messages < SUBSCRIPTIONS; ) {
        if (client.text().startsWith("{\"type\":\"" + type + "\"")) {
          messages++;
        }
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"x\"", "\"x*\"", "[\"x\",\"y\"]"})
    void one_reads_for_all(String db) {
      subscribe(db);
      int before = store.begun();
      server.write("/x/p", "{}");
      clients.forEach(client -> await(client, "row"));

      assertThat(store.begun() - before).isPositive().isLessThan(SOCKETS * SUBSCRIPTIONS / 10);
    }

    /**
     * Otherwise a client that keeps subscribing and unsubscribing would fill the readers' queue.
     */
    @Test
    void a_client_is_not_listened_to_while_16_subscriptions_begin() {
      SocketClient eager = clients.get(0);
      store.hold();
      for (int id = 0; id < 15; id++) {
        beginAndEnd(eager, id);
      }
      beginAndEnd(eager, 0);
      assertThat(eager.message("error", "id")).isEqualTo("0");
      assertThat(eager.message("error", "id")).isEqualTo("0");
      beginAndEnd(eager, 15);
      everyLoopHasTurned();
      assertThat(eager.isSilent()).isTrue();

      store.release();
      Set<String> ended = new HashSet<>();
      for (int id = 0; id <= 15; id++) {
        ended.add(eager.message("end", "id"));
      }
      assertThat(ended).hasSize(16);
    }

    /** Pages without matching rows are turns all the same. */
    @Test
    void subscriptions_that_find_nothing_for_long_do_not_keep_others_waiting() {
      String docs = "{},".repeat(4_000) + "{}";
      for (int batch = 0; batch < 4; batch++) {
        server.post("/x/_bulk_docs", "{\"docs\":[" + docs + "]}");
      }
      SocketClient client = clients.get(0);
      store.hold();
      for (int id = 0; id < 8; id++) {
        client.send(
            "{\"type\":\"subscribe\",\"id\":\"%d\",\"db\":\"x\",\"selector\":{\"none\":{\"$gt\":%d}}}"
                .formatted(id, id));
      }
      client.send("{\"type\":\"subscribe\",\"id\":\"all\",\"db\":\"x\",\"limit\":1}");
      store.release();

      JsonObject first = client.message();
      assertThat(SocketClient.text(first, "type")).isEqualTo("row");
      assertThat(SocketClient.text(first, "id")).isEqualTo("all");
    }

    @Test
    void a_subscription_that_cannot_be_read_on_leaves_the_others_alone() {
      server.write("/x/p", "{}");
      SocketClient client = clients.get(0);
      client.send("{\"type\":\"subscribe\",\"id\":\"a\",\"db\":\"x\",\"credits\":0}");
      client.send("{\"type\":\"subscribe\",\"id\":\"b\",\"db\":\"x\",\"credits\":1}");
      assertThat(client.message("row", "id")).isEqualTo("b");

      store.breakDown(true);
      client.send("{\"type\":\"credit\",\"id\":\"a\",\"n\":1}");
      JsonObject error = other(client, "caught_up");
      assertThat(SocketClient.text(error, "id")).isEqualTo("a");
      assertThat(SocketClient.text(error, "error")).isEqualTo("internal_server_error");
      assertThat(error.get("ended")).contains(new JsonBool(true));
      store.breakDown(false);
      server.write("/x/q", "{}");
      client.send("{\"type\":\"credit\",\"id\":\"b\",\"n\":1}");
      JsonObject row = other(client, "caught_up");
      assertThat(SocketClient.text(row, "id")).isEqualTo("b");
      assertThat(SocketClient.text(row, "type")).isEqualTo("row");
    }

    /** Returns the next message of another type. */
    private static JsonObject other(SocketClient client, String type) {
      JsonObject message = client.message();
      while (SocketClient.text(message, "type").equals(type)) {
        message = client.message();
      }
      return message;
    }

    private static void beginAndEnd(SocketClient client, int id) {
      client.send("{\"type\":\"subscribe\",\"id\":\"" + id + "\",\"db\":\"x\"}");
      client.send("{\"type\":\"unsubscribe\",\"id\":\"" + id + "\"}");
    }

    /** The other clients are on all event loops, and get their answers after what came before. */
    private void everyLoopHasTurned() {
      for (int round = 0; round < 3; round++) {
        for (SocketClient client : clients.subList(1, clients.size())) {
          client.send("{}");
          assertThat(client.message("error", "error")).isEqualTo("bad_request");
        }
      }
    }
  }

  /** How many databases are read for a client that has left. */
  @Nested
  class DepartedScan {
    @RegisterExtension static final TestStores stores = SoundStore.stores();

    private static final int DATABASES = 3;
    private static final int DOCUMENTS_EACH = 1_000;

    /** Transactions are this short while documents are examined. */
    private static final int ROWS_AT_ONCE = 400;

    private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
    private final LectusServer server = LectusServer.start(store.store());
    private final Conversation client = Conversation.with(server);

    @BeforeEach
    void write() {
      String docs =
          IntStream.range(0, DOCUMENTS_EACH)
              .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
              .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
      for (int i = 0; i < DATABASES; i++) {
        server.put("/user-" + i);
        server.post("/user-" + i + "/_bulk_docs", docs).expect(201);
      }
    }

    @AfterEach
    void stop() {
      store.release();
      client.close();
      server.close();
    }

    /** Subscribes to a condition that no document meets, so that all of them are examined. */
    private static void lookFor(Conversation client, String id) {
      client.subscribe(id, "'db':'user-*','include_docs':true,'selector':{'absent':'" + id + "'}");
    }

    private static void awaitEnd(Conversation client) {
      while (!SocketClient.text(client.socket().message(), "type").equals("caught_up")) {}
    }

    @Test
    void a_scan_ends_with_its_client() {
      int before = store.begun();
      lookFor(client, "a");
      awaitEnd(client);
      int whole = store.begun() - before;
      assertThat(whole)
          .as("one that stays is read for to the end")
          .isGreaterThanOrEqualTo(DATABASES * DOCUMENTS_EACH / ROWS_AT_ONCE);

      store.hold();
      before = store.begun();
      try (Conversation departing = Conversation.with(server)) {
        lookFor(departing, "b");
        awaitBegun(before + 1);
      }
      everyLoopHasTurned();
      store.release();
      lookFor(client, "c");
      awaitEnd(client);
      lookFor(client, "d");
      awaitEnd(client);

      // The server looks after its accounts meanwhile, which costs a few transactions.
      assertThat(store.begun() - before - 2 * whole)
          .as("what was held up, and nothing behind it")
          .isLessThan(whole);
    }

    private void awaitBegun(int count) {
      while (store.begun() < count) {
        Thread.onSpinWait();
      }
    }

    /** Clients on all event loops get answers after the end of the one that left. */
    private void everyLoopHasTurned() {
      for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
        try (Conversation other = Conversation.with(server)) {
          for (int round = 0; round < 3; round++) {
            other.say("{}");
            assertThat(other.socket().message("error", "error")).isEqualTo("bad_request");
          }
        }
      }
    }
  }

  /** Clients that read more slowly than rows come. */
  @Nested
  class SlowClients {
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
      // What reading leaves in pools and caches is not the slow client's.
      readEverything();
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
}
