package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.write.EditOutcome;
import lectus.http.testing.Connection;
import lectus.http.testing.TestSettings;
import lectus.server.BareServerTest.BareServer;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that have gone, with or without closing their connections, hold nothing. */
final class DeadClientsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final DatabaseName NAME = DatabaseName.of("w");

  /** Longer than a busy machine keeps the test from reading. */
  private static final int IDLE_SECONDS = 4;

  private static final String UPGRADE =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

  @AutoClose private final BareServer server;

  DeadClientsTest() throws TimeoutException {
    WriteSettings bounds = new WriteSettings(1, 10, 1 << 20, 64, 1 << 20);
    TestSettings impatient =
        new TestSettings().idleTimeoutSeconds(IDLE_SECONDS).impatientWithWebSockets();
    server = new BareServer(stores.fresh(), bounds, impatient);
  }

  @BeforeEach
  void create() {
    server.layer().catalogue().create(NAME, TestLayout.OPTIONS);
  }

  private Connection feed(String query, String headers) {
    return server
        .connect()
        .write("GET /w/_changes?" + query + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
  }

  private boolean isForgotten() {
    return server.openFeeds() == 0 && server.listeners().databases().isEmpty();
  }

  @Test
  void one_that_closes_its_connection_is_forgotten() {
    for (String query : List.of("feed=longpoll&heartbeat=60000", "feed=eventsource", "")) {
      try (Connection client = feed(query, query.isEmpty() ? UPGRADE : "")) {
        client.readHead();
        Await.until("it listens", () -> !server.listeners().databases().isEmpty());
      }
      Await.until("it is forgotten", this::isForgotten);
    }
  }

  @Test
  void one_that_answers_no_ping_is_given_up() {
    try (Connection client = feed("", UPGRADE)) {
      client.readHead();
      Await.until("it listens", () -> !server.listeners().databases().isEmpty());
      Await.until("it is forgotten", this::isForgotten);
    }
  }

  /** Its rows wait in the store, and nothing moves on its connection. */
  @Test
  void one_that_reads_nothing_is_given_up() {
    writeMoreThanTheSystemTakes();
    for (String form : List.of("feed=continuous&heartbeat=20", "feed=eventsource", "")) {
      try (Connection client = feed(form + "&include_docs=true", form.isEmpty() ? UPGRADE : "")) {
        client.readHead();
        Await.until("one feed is open", () -> server.openFeeds() == 1);
        Await.until("it is forgotten", this::isForgotten);
      }
    }
  }

  /** It reads all the time, but less than waits for it. */
  @Test
  void one_that_reads_slowly_is_served_for_as_long_as_it_takes() {
    writeMoreThanTheSystemTakes();
    for (String form : List.of("feed=continuous&heartbeat=60000", "")) {
      Connection client =
          server
              .connectSlowly()
              .write(
                  "GET /w/_changes?include_docs=true&"
                      + form
                      + " HTTP/1.1\r\nHost: h\r\n"
                      + (form.isEmpty() ? UPGRADE : "")
                      + "\r\n");
      try (client) {
        client.readHead();
        readSlowly(client, Duration.ofSeconds(2 * IDLE_SECONDS));
        assertThat(server.openFeeds()).isEqualTo(1);
      }
      Await.until("it is forgotten", this::isForgotten);
    }
  }

  /** Never reads so much at once that the server's queue is empty. */
  private static void readSlowly(Connection client, Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() < end) {
      client.skip(8 << 10);
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
  }

  private void writeMoreThanTheSystemTakes() {
    for (int i = 0; i < 200; i++) {
      write("d" + i);
    }
  }

  private void write(String id) {
    DocumentParser parser = new DocumentParser(DocumentLimits.DEFAULT);
    byte[] json = ("{\"v\":\"" + "x".repeat(90_000) + "\"}").getBytes(StandardCharsets.UTF_8);
    List<Edit> edits = new ArrayList<>();
    edits.add(parser.interactive(id, NamedRevisions.NONE, json).by(UserContext.SERVER));
    assertThat(server.layer().writer().write(NAME, edits).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);
  }
}
