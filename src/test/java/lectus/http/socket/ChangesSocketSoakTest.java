package lectus.http.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Readers come, go, pause, count credits and lose their sockets while documents are written. In the
 * end each has seen what the store has: in order, without a gap and nothing twice.
 */
@Timeout(120)
final class ChangesSocketSoakTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final long SEED = Long.getLong("lectus.test.seed", 20_260_801);
  private static final int ACTIONS = 2_000;
  private static final int BATCHES = 400;
  private static final List<String> LASTING = List.of("a-1", "a-2", "b");

  private final LectusServer server = LectusServer.start(stores.fresh());
  private final Random dice = new Random(SEED);
  private final List<Socket> sockets = new ArrayList<>();

  @AfterEach
  void stop() {
    sockets.forEach(socket -> socket.client.close());
    server.close();
  }

  /** A reader that builds one state of some databases from rows, across all of its sockets. */
  private static final class Reader {
    private final String id;
    private final String scope;
    private final boolean counts;

    /** The sequence of each document, by database. */
    private final Map<String, Map<String, String>> seen = new TreeMap<>();

    private String at = "0";
    private long credits;
    private boolean subscribed;

    Reader(String id, String scope, boolean counts) {
      this.id = id;
      this.scope = scope;
      this.counts = counts;
    }

    String subscribe(int firstCredits) {
      subscribed = true;
      credits = firstCredits;
      String limit = counts ? ",\"credits\":" + firstCredits : "";
      return message("subscribe", ",\"since\":\"" + at + "\"," + scope + limit);
    }

    String message(String type, String members) {
      return "{\"type\":\"" + type + "\",\"id\":\"" + id + "\"" + members + "}";
    }

    void take(JsonObject message) {
      String type = SocketClient.text(message, "type");
      switch (type) {
        case "row" -> takeRow(message);
        case "left" -> seen.remove(SocketClient.text(message, "db"));
        case "end" -> subscribed = false;
        case "caught_up" -> {}
        default -> throw new AssertionError(message.toString());
      }
      moveTo(SocketClient.text(message, "at"));
    }

    private void takeRow(JsonObject message) {
      assertThat(SocketClient.text(message, "at")).as("rows of " + id).isGreaterThan(at);
      assertThat(--credits).as("credits of " + id).isNotNegative();
      JsonObject row = (JsonObject) message.get("row").orElseThrow();
      seen.computeIfAbsent(SocketClient.text(message, "db"), db -> new TreeMap<>())
          .put(SocketClient.text(row, "id"), SocketClient.text(row, "seq"));
    }

    private void moveTo(String next) {
      assertThat(next).as("position of " + id).isGreaterThanOrEqualTo(at);
      at = next;
    }
  }

  /** A client with several readers. */
  private final class Socket {
    private final Map<String, Reader> readers = new TreeMap<>();
    private SocketClient client = connect();
    private boolean paused;

    private SocketClient connect() {
      return SocketClient.connect(server, "/_changes", "lectus.changes.v1");
    }

    void add(Reader reader) {
      readers.put(reader.id, reader);
      client.send(reader.subscribe(creditsOf(reader)));
    }

    /** Reconnects; whatever was under way is lost. */
    void reconnect() {
      client.close();
      client = connect();
      paused = false;
      readers.values().forEach(reader -> client.send(reader.subscribe(creditsOf(reader))));
    }

    void pauseOrResume() {
      paused = !paused;
      if (paused) {
        client.pause();
      } else {
        client.resume();
      }
    }

    void unsubscribeOrSubscribe(Reader reader) {
      if (reader.subscribed && !paused) {
        client.send(reader.message("unsubscribe", ""));
        while (reader.subscribed) {
          take(client.text());
        }
      } else if (!reader.subscribed) {
        client.send(reader.subscribe(creditsOf(reader)));
      }
    }

    void give(Reader reader, int credits) {
      if (reader.counts && reader.subscribed) {
        reader.credits += credits;
        client.send(reader.message("credit", ",\"n\":" + credits));
      }
    }

    void takeWhatCame() {
      for (String text = client.poll(); text != null; text = client.poll()) {
        take(text);
      }
    }

    void take(String text) {
      JsonObject message = (JsonObject) JsonValue.parse(text.getBytes(StandardCharsets.UTF_8));
      readers.get(SocketClient.text(message, "id")).take(message);
    }

    private int creditsOf(Reader reader) {
      return reader.counts ? dice.nextInt(20) : Integer.MAX_VALUE;
    }
  }

  /** Writes at random; deletes and creates a database that only patterns read. */
  private final class Writer extends Thread {
    private final Random dice = new Random(SEED + 1);
    private final Map<String, String> revisions = new HashMap<>();

    @Override
    public void run() {
      for (int batch = 0; batch < BATCHES; batch++) {
        if (dice.nextInt(15) == 0) {
          server.delete("/a-doomed");
          revisions.keySet().removeIf(key -> key.startsWith("a-doomed/"));
          server.put("/a-doomed");
        }
        write(List.of("a-1", "a-2", "b", "a-doomed").get(dice.nextInt(4)), 1 + dice.nextInt(30));
      }
    }

    private void write(String db, int count) {
      List<String> docs = new ArrayList<>();
      List<String> gone = new ArrayList<>();
      int first = dice.nextInt(60);
      for (int i = first; i < first + count; i++) {
        String rev = revisions.get(db + "/d" + i);
        String deleted = rev != null && dice.nextInt(4) == 0 ? ",\"_deleted\":true" : "";
        if (!deleted.isEmpty()) {
          gone.add(db + "/d" + i);
        }
        docs.add(
            "{\"_id\":\"d"
                + i
                + "\""
                + (rev == null ? "" : ",\"_rev\":\"" + rev + "\"")
                + deleted
                + ",\"v\":"
                + dice.nextInt()
                + "}");
      }
      String answer =
          server
              .post("/" + db + "/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}")
              .body();
      for (JsonValue edit : ((JsonArray) parse(answer)).elements()) {
        JsonObject done = (JsonObject) edit;
        assertThat(SocketClient.text(done, "error")).as(answer).isNull();
        revisions.put(db + "/" + SocketClient.text(done, "id"), SocketClient.text(done, "rev"));
      }
      gone.forEach(revisions::remove);
    }
  }

  private static JsonValue parse(String json) {
    return JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void what_readers_see_is_what_the_store_has() throws InterruptedException {
    LASTING.forEach(name -> server.put("/" + name));
    server.put("/a-doomed");
    begin();
    Writer writer = new Writer();
    writer.start();
    for (int action = 0; action < ACTIONS || writer.isAlive(); action++) {
      act();
    }
    writer.join();
    finish();
  }

  private void begin() {
    for (int number = 0; number < 3; number++) {
      Socket socket = new Socket();
      sockets.add(socket);
      List<String> scopes =
          List.of(
              "\"db\":\"a-1\"",
              "\"db\":\"b\",\"include_docs\":true",
              "\"db\":\"a-2\",\"doc_ids\":[\"d1\",\"d7\",\"d20\",\"d50\"]",
              "\"db\":\"a-*\"",
              "\"db\":[\"b\",\"a-doomed\"]");
      for (String scope : scopes) {
        socket.add(new Reader("r" + socket.readers.size(), scope, number == 0));
        socket.add(new Reader("r" + socket.readers.size(), scope, true));
      }
    }
  }

  private void act() {
    Socket socket = sockets.get(dice.nextInt(sockets.size()));
    List<Reader> readers = List.copyOf(socket.readers.values());
    Reader reader = readers.get(dice.nextInt(readers.size()));
    switch (dice.nextInt(12)) {
      case 0 -> socket.reconnect();
      case 1, 2 -> socket.pauseOrResume();
      case 3, 4 -> socket.unsubscribeOrSubscribe(reader);
      case 5, 6, 7, 8 -> socket.give(reader, 1 + dice.nextInt(40));
      default -> sockets.forEach(Socket::takeWhatCame);
    }
  }

  private void finish() {
    Map<String, Map<String, String>> stored = new TreeMap<>();
    for (String db : List.of("a-1", "a-2", "b", "a-doomed")) {
      stored.put(db, changes(db));
    }
    for (Socket socket : sockets) {
      socket.reconnect();
      for (Reader reader : socket.readers.values()) {
        socket.give(reader, 100_000);
      }
      while (socket.readers.values().stream().anyMatch(reader -> !isComplete(reader, stored))) {
        socket.take(socket.client.text());
      }
    }
  }

  private boolean isComplete(Reader reader, Map<String, Map<String, String>> stored) {
    return reader.seen.equals(wanted(reader, stored));
  }

  private static Map<String, Map<String, String>> wanted(
      Reader reader, Map<String, Map<String, String>> stored) {
    Map<String, Map<String, String>> wanted = new TreeMap<>(stored);
    if (reader.scope.contains("\"a-*\"")) {
      wanted.remove("b");
    } else if (!reader.scope.contains("\"*\"")) {
      wanted.keySet().removeIf(db -> !reader.scope.contains("\"" + db + "\""));
    }
    if (reader.scope.contains("doc_ids")) {
      wanted.replaceAll((db, docs) -> filtered(docs, reader.scope));
    }
    wanted.values().removeIf(Map::isEmpty);
    return wanted;
  }

  private static Map<String, String> filtered(Map<String, String> docs, String scope) {
    Map<String, String> some = new TreeMap<>(docs);
    some.keySet().removeIf(id -> !scope.contains("\"" + id + "\""));
    return some;
  }

  private Map<String, String> changes(String db) {
    Map<String, String> changes = new TreeMap<>();
    JsonObject feed = (JsonObject) parse(server.get("/" + db + "/_changes").body());
    for (JsonValue element : ((JsonArray) feed.get("results").orElseThrow()).elements()) {
      JsonObject row = (JsonObject) element;
      changes.put(SocketClient.text(row, "id"), SocketClient.text(row, "seq"));
    }
    return changes;
  }
}
