package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.store.WatchedStore;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often the store is read for subscriptions of many sockets. */
final class SocketReadsTest {
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

  /** Otherwise a client that keeps subscribing and unsubscribing would fill the readers' queue. */
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
