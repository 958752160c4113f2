package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.FrozenStore;
import lectus.store.testing.Await;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Answers and log lines while the store does not answer. */
final class OutageTest {
  private static final int READERS = 4;
  private static final int LONG_SECONDS = 60;

  /** Longer than a busy machine keeps a request that is to be served. */
  private static final int SHORT_SECONDS = 5;

  private static final String SILENT =
      "{\"error\":\"service_unavailable\",\"reason\":\"The store does not answer.\"}\n";
  private static final String TOO_LATE =
      "{\"error\":\"service_unavailable\",\"reason\":\"The request has waited for too long.\"}\n";

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @AutoClose private final LogLines log = LogLines.of("lectus");
  private final List<Connection> clients = new ArrayList<>();
  private FrozenStore frozen;
  private LectusServer server;

  @AfterEach
  void stop() {
    frozen.thaw();
    clients.forEach(Connection::close);
    server.close();
  }

  private void start(boolean isCluster, int requestSeconds) {
    frozen = new FrozenStore(stores.fresh(), isCluster);
    TestSettings settings = new TestSettings().requestSeconds(requestSeconds).oneExecutor(1);
    server = LectusServer.start(frozen.store(), settings);
    server.put("/w").expect(201);
    server.put("/w/a", "{\"n\":1}").expect(201);
  }

  private Connection ask(String method, String target) {
    Connection client = server.request(method, target).json("{}").open();
    clients.add(client);
    return client;
  }

  /** Sends GETs that each hold a reader's thread, and are not answered from memory. */
  private List<Connection> holdAllReaders() {
    List<Connection> holders =
        Stream.generate(() -> ask("GET", "/w/a?conflicts=true")).limit(READERS).toList();
    Await.until("all readers wait for the store", () -> frozen.held() >= READERS);
    return holders;
  }

  private static void assertUnavailable(Answer answer, String body) {
    assertThat(answer.body()).isEqualTo(body);
    answer.expect(503);
    assertThat(answer.header("retry-after")).isEqualTo("1");
  }

  private List<String> complaints() {
    return log.complaints();
  }

  @Test
  void while_the_store_is_known_to_be_silent_nobody_waits_and_the_log_says_so_once() {
    start(true, LONG_SECONDS);
    frozen.freeze();
    List<Connection> holders = holdAllReaders();
    List<Connection> waiting =
        Stream.generate(() -> ask("GET", "/w/a?revs=true")).limit(9).toList();

    waiting.forEach(client -> assertUnavailable(client.read(false), SILENT));
    assertUnavailable(server.get("/w/a?revs=true"), SILENT);
    assertUnavailable(server.put("/w/b", "{}"), SILENT);
    assertUnavailable(server.post("/w/_bulk_docs", "{\"docs\":[{}]}"), SILENT);
    assertUnavailable(server.get("/_up"), SILENT);
    server.get("/").expect(200);
    assertThat(complaints())
        .containsExactly("The store does not answer; requests are refused until it does.");

    frozen.thaw();
    holders.forEach(client -> assertThat(client.read(false).status()).isEqualTo(200));
    Await.until("requests are served", () -> server.get("/w/a").status() == 200);
    server.put("/w/b", "{}").expect(201);
    assertThat(complaints()).hasSize(2);
    assertThat(complaints().get(1)).startsWith("The store answers again after ");
  }

  @Test
  void a_request_that_a_silent_store_holds_is_answered_in_its_time() {
    start(true, SHORT_SECONDS);
    frozen.freeze("lectus-reader");

    assertUnavailable(server.get("/w/a?conflicts=true"), SILENT);
    assertThat(complaints()).isEmpty();
  }

  @Test
  void a_request_that_waits_for_its_turn_for_too_long_is_answered_and_what_is_begun_is_not_cut() {
    start(false, SHORT_SECONDS);
    frozen.freeze("lectus-reader");
    List<Connection> holders = holdAllReaders();

    assertUnavailable(server.get("/w/a?revs=true"), TOO_LATE);
    assertUnavailable(server.post("/w/_revs_diff", "{}"), TOO_LATE);
    frozen.thaw();
    holders.forEach(client -> assertThat(client.read(false).status()).isEqualTo(200));
  }

  @Test
  void a_request_whose_turn_comes_in_time_is_served() {
    start(false, LONG_SECONDS);
    frozen.freeze("lectus-reader");
    List<Connection> holders = holdAllReaders();
    Connection waiting = ask("GET", "/w/a?revs=true");

    frozen.thaw();
    waiting.read(false).expect(200);
    holders.forEach(client -> assertThat(client.read(false).status()).isEqualTo(200));
  }

  @Test
  void a_write_that_is_not_begun_in_time_is_refused_but_not_one_that_nobody_waits_for() {
    start(false, SHORT_SECONDS);
    frozen.freeze("lectus-executor");
    Connection begun = ask("PUT", "/w/begun");
    Await.until("it waits for the store", () -> frozen.held() > 0);
    server.put("/w/unattended?batch=ok", "{}").expect(202);

    assertUnavailable(server.put("/w/late", "{}"), TOO_LATE);
    assertUnavailable(server.post("/w/_bulk_docs", "{\"docs\":[{\"_id\":\"late\"}]}"), TOO_LATE);
    frozen.thaw();
    begun.read(false).expect(201);
    Await.until("it is stored", () -> server.get("/w/unattended").status() == 200);
    server.get("/w/late").expect(404);
  }

  @Test
  void a_feed_stays_open_however_often_it_was_read_in_vain() {
    start(true, SHORT_SECONDS);
    Connection feed = ask("GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000");
    feed.readHead();
    // The tail, which reads for all, is retried again and again; it gives up at other failures.
    frozen.freeze("lectus-reader");
    server.put("/w/news", "{}").expect(201);
    for (int i = 0; i < 8; i++) {
      Await.until("the feed is read", () -> frozen.held() > 0);
      frozen.timeOut();
    }

    frozen.thaw();
    assertThat(feed.chunkText()).contains("\"id\":\"news\"");
    assertThat(complaints()).isEmpty();
  }
}
