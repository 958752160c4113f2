package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.http.testing.Connection;
import lectus.server.BareServerTest.BareServer;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.WatchedStore;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests whose clients leave before they are begun delay nobody. */
final class DepartedReadersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final DatabaseName NAME = DatabaseName.of("w");
  private static final int CLIENTS = 100;
  private static final int THREADS = 4;

  /** Documents that fill a page each. */
  private static final int DOCUMENTS = 30;

  /** The transactions of a page and of the opening before it. */
  private static final int TRANSACTIONS = 3;

  private static final String UPGRADE =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

  private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
  private final BareServer server;

  DepartedReadersTest() throws TimeoutException {
    server = new BareServer(store.store(), new WriteSettings(1, 10, 1 << 20, 64, 1 << 20));
  }

  @BeforeEach
  void create() {
    server.layer().catalogue().create(NAME, TestLayout.OPTIONS);
    DocumentParser parser = new DocumentParser(DocumentLimits.DEFAULT);
    byte[] json = ("{\"v\":\"" + "x".repeat(90_000) + "\"}").getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < DOCUMENTS; i++) {
      Edit edit = parser.interactive("d" + i, NamedRevisions.NONE, json).by(UserContext.SERVER);
      server.layer().writer().write(NAME, new ArrayList<>(List.of(edit)));
    }
  }

  @AfterEach
  void stop() {
    store.release();
    server.close();
  }

  @Test
  void reads_are_not_begun_for_clients_that_left() {
    for (String request :
        List.of(
            "GET /w/_changes?include_docs=true HTTP/1.1\r\nHost: localhost\r\n",
            "GET /w/_changes?include_docs=true&feed=continuous HTTP/1.1\r\nHost: localhost\r\n",
            "GET /w/_changes?include_docs=true HTTP/1.1\r\nHost: localhost\r\n" + UPGRADE,
            "GET /w/_all_docs?include_docs=true HTTP/1.1\r\nHost: localhost\r\n",
            "GET /w/_changes/_meta HTTP/1.1\r\nHost: localhost\r\n")) {
      leaveWhileWaiting(request);
      int begun = store.begun();
      store.release();

      assertThat(ask("/w/_changes?since=0").read(false).body()).contains("\"last_seq\"");
      // The small feed, and the pages that were being read: no thread begins another for a client
      // that has left.
      assertThat(store.begun() - begun)
          .as(request)
          .isLessThanOrEqualTo((THREADS + 1) * TRANSACTIONS);
    }
  }

  /** The threads hold the first requests; all others wait, and then their clients leave. */
  private void leaveWhileWaiting(String request) {
    store.hold();
    int begun = store.begun();
    int held = request.contains("/_changes") && !request.contains("_meta") ? THREADS / 2 : THREADS;
    List<Connection> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(server.connect().write(request + "\r\n"));
    }
    Await.until("the threads are taken", () -> store.begun() == begun + held);
    // The loop has read the other requests, too.
    turnLoop();
    clients.forEach(Connection::close);
    turnLoop();
  }

  /** Bytes that were sent before these answers have been read. */
  private void turnLoop() {
    for (int i = 0; i < 3; i++) {
      try (Connection other = ask("/")) {
        other.read(false).expect(200);
      }
    }
  }

  private Connection ask(String target) {
    return server.connect().write("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
}
