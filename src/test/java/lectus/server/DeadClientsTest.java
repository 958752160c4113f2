package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
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
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Forwarding;
import lectus.http.exchange.HttpLoop;
import lectus.http.exchange.Services;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.server.BareServerTest.BareServer;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.WatchedStore;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that have gone, or whom no answer can reach: they hold nothing and delay nobody. */
final class DeadClientsTest {
  private static final DatabaseName NAME = DatabaseName.of("w");

  private static final String UPGRADE =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

  /** Clients that have gone, with or without closing their connections, hold nothing. */
  @Nested
  class OfFeeds {
    @RegisterExtension static final TestStores stores = SoundStore.stores();

    /** Longer than a busy machine keeps the test from reading. */
    private static final int IDLE_SECONDS = 4;

    @AutoClose private final BareServer server;

    OfFeeds() throws TimeoutException {
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

  /** Requests whose clients leave before they are begun delay nobody. */
  @Nested
  class BeforeTheirTurn {
    @RegisterExtension static final TestStores stores = new TestStores();
    private static final int CLIENTS = 100;
    private static final int THREADS = 4;

    /** Documents that fill a page each. */
    private static final int DOCUMENTS = 30;

    /** The transactions of a page and of the opening before it. */
    private static final int TRANSACTIONS = 3;

    private final WatchedStore store = new WatchedStore(stores.fresh(), "lectus-reader");
    private final BareServer server;

    BeforeTheirTurn() throws TimeoutException {
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
      int held =
          request.contains("/_changes") && !request.contains("_meta") ? THREADS / 2 : THREADS;
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

  /** Answers that HTTP cannot carry: their clients do not wait for ever, and hold nothing. */
  @Nested
  class WithoutAnswers {
    @RegisterExtension static final TestStores stores = new TestStores();

    private static final TestSettings SETTINGS = new TestSettings().bodyMemoryBytes(1);

    private final Vertx vertx = Vertx.vertx();
    private BareServer node;

    @BeforeEach
    void start() throws TimeoutException {
      node =
          new BareServer(stores.fresh(), new WriteSettings(1, 2, 1 << 20, 64, 1 << 20), SETTINGS);
    }

    @AfterEach
    void stop() {
      vertx.close().await();
      node.close();
    }

    /**
     * @param status of an answer with an invalid header
     */
    private HttpServer answering(int status) {
      Services services = node.services();
      HttpLoop loop =
          new HttpLoop(
              services.databases().catalogue(),
              services.perRequest(),
              SETTINGS.toNode()::http,
              new Forwarding(
                  services.server().caller(),
                  services.changes().sessions(),
                  services.databases().events()));
      Reply unsendable = Reply.ok(status).with("X-Line", "one\0two");
      return vertx
          .createHttpServer()
          .requestHandler(request -> answer(loop, request, unsendable))
          .listen(0, "127.0.0.1")
          .await();
    }

    private static void answer(HttpLoop loop, HttpServerRequest request, Reply reply) {
      new Exchange(loop, Vertx.currentContext(), request).answerBody(body -> reply);
    }

    private static Request largeRequest(HttpServer server) {
      return new Request(server.actualPort(), "POST", "/").body(new byte[100_000]);
    }

    @Test
    void it_is_an_error_instead() {
      Answer answer = largeRequest(answering(200)).send().expect(500);
      assertThat(answer.member("error")).isEqualTo("internal_server_error");
      Await.until("the body is given back", this::nothingIsHeld);
    }

    @Test
    void the_connection_ends_if_not_even_an_error_can_be_sent() {
      HttpServer server = answering(500);
      try (Connection client = new Connection(server.actualPort())) {
        client.write(largeRequest(server).bytes());

        assertThat(client.isAtEnd()).isTrue();
      }
      Await.until("the body is given back", this::nothingIsHeld);
    }

    private boolean nothingIsHeld() {
      return node.services().perRequest().memory().bodies().held() == 0;
    }
  }
}
