package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.WatchedStore;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How many databases are read for a client that has left. */
final class DepartedScanTest {
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
