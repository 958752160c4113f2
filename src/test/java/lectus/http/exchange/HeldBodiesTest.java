package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.error.LectusException;
import lectus.http.limits.BodyMemory;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.ClientMemory.CompressionQuota;
import lectus.http.limits.MemoryAccount;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.FrozenStore;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The memory that exchanges and the bodies of requests take, until they are answered or their
 * clients have left.
 */
final class HeldBodiesTest {
  /** The memory of requests' bodies, until they are answered or their clients have left. */
  @Nested
  class OfBodies {
    @RegisterExtension static final TestStores stores = new TestStores();

    private static final int DOCUMENTS = 400;

    /** Large enough to be counted, with a large answer. */
    private static final String KEYS =
        IntStream.range(0, DOCUMENTS)
                .mapToObj(i -> "\"d" + i + "\"")
                .collect(Collectors.joining(",", "{\"keys\":[", "]}"))
            + " ".repeat(100_000);

    private static final String FEED_WITHOUT_END = "/w/_changes?feed=continuous&heartbeat=60000";

    /** The limit admits a body while no other is held. */
    @AutoClose private final LectusServer server = LectusServer.start(stores.fresh(), settings());

    private static TestSettings settings() {
      return new TestSettings()
          .bodyMemoryBytes(1)
          .pageMemoryBytes(1)
          .filterMemoryBytes(6 << 20)
          .requestSeconds(3)
          .maxRequestBytes(8 << 20);
    }

    /** Documents small enough to be admitted beside a large one. */
    private void writeDocuments() {
      server.put("/w");
      for (int i = 0; i < DOCUMENTS; i++) {
        server.write("/w/d" + i, "{\"v\":\"" + "x".repeat(60_000) + "\"}");
      }
    }

    /** Returns a request whose answer waits for its client. */
    private Connection slowRequest() {
      Connection client = new Connection(server.port(), 16 << 10);
      client.write(
          "POST /w/_all_docs?include_docs=true HTTP/1.1\r\nHost: h\r\n"
              + "Content-Type: application/json\r\nContent-Length: "
              + KEYS.length()
              + "\r\n\r\n"
              + KEYS);
      client.readHead().expect(200);
      return client;
    }

    @Test
    void a_client_that_goes_away_gives_it_back() {
      writeDocuments();
      try (Connection client = slowRequest()) {
        server.post("/w/_all_docs", KEYS).expect(503);
      }
      Await.until("it is given back", () -> server.post("/w/_all_docs", KEYS).status() == 200);
    }

    @Test
    void a_large_answer_holds_memory_until_its_client_has_taken_it() {
      server.put("/w");
      server.write("/w/small", "{\"v\":\"" + "x".repeat(60_000) + "\"}");
      server.write("/w/large", "{\"v\":\"" + "x".repeat(7_000_000) + "\"}");
      try (Connection client = new Connection(server.port(), 16 << 10)) {
        client.write("GET /w/large HTTP/1.1\r\nHost: h\r\n\r\n");
        client.readHead().expect(200);

        server.get("/w/_all_docs?include_docs=true").expect(503);
        Answer refused = server.get("/w/large").expect(503);
        assertThat(refused.body()).contains("Too many large answers wait for their clients.");
        server.get("/w/small").expect(200);
        server.head("/w/large").expect(200);
      }
      Await.until("it is given back", () -> server.get("/w/large").status() == 200);
      try (Connection client = new Connection(server.port(), 16 << 10)) {
        client.write("GET /w/_all_docs?include_docs=true HTTP/1.1\r\nHost: h\r\n\r\n");
        client.readHead().expect(200);
        server.get("/w/large").expect(503);
      }
      Await.until("it is given back", () -> server.get("/w/large").status() == 200);
    }

    /** A page that was read is dropped, and read again when there is room; small ones are sent. */
    @Test
    void a_feed_of_large_documents_waits_for_the_memory_that_others_hold() {
      server.put("/w");
      String text = "x".repeat(7_000_000);
      server.write("/w/a", "{\"v\":\"" + text + "\"}");
      server.write("/w/b", "{\"v\":\"" + text + "\"}");
      server.put("/small");
      server.write("/small/a", "{}");
      String feed =
          "/_changes?feed=continuous&include_docs=true&heartbeat=50 HTTP/1.1\r\nHost: h\r\n\r\n";
      try (Connection slow = new Connection(server.port(), 16 << 10);
          Connection quick = server.connect();
          Connection small = server.connect()) {
        slow.write("GET /w" + feed).readHead();
        assertThat(slow.chunkTextBegins()).contains("\"id\":\"a\"");
        quick.write("GET /w" + feed).readHead();
        for (int beat = 0; beat < 2; beat++) {
          assertThat(quick.chunkText()).isBlank();
        }
        small.write("GET /small" + feed).readHead();
        assertThat(small.chunkText()).contains("\"id\":\"a\"");

        slow.close();
        for (String id : List.of("a", "b")) {
          String next = quick.chunkText();
          while (next.isBlank()) {
            next = quick.chunkText();
          }
          assertThat(next).contains("\"id\":\"" + id + "\"").hasSizeGreaterThan(text.length());
        }
      }
    }

    /** It has sent 200, so it must be sent whole. Its third part is the first that has to wait. */
    @Test
    void an_answer_that_has_begun_waits_for_the_memory_that_others_hold() {
      server.put("/w");
      server.write("/w/a", "{\"v\":\"" + "x".repeat(7_000_000) + "\"}");
      server.put("/parts");
      storePart("a", 1);
      storePart("b", 200);
      storePart("c", 200);
      try (Connection slow = new Connection(server.port(), 16 << 10);
          Connection answer = server.connect();
          Connection beats = server.connect()) {
        slow.write("GET " + FEED_WITHOUT_END + "&include_docs=true HTTP/1.1\r\nHost: h\r\n\r\n");
        slow.readHead();
        assertThat(slow.chunkTextBegins()).contains("\"id\":\"a\"");
        answer.write("GET /parts/_all_docs?include_docs=true HTTP/1.1\r\nHost: h\r\n\r\n");
        answer.readHead().expect(200);
        assertThat(answer.chunkText()).contains("\"a499\"").doesNotContain("\"b499\"");
        assertThat(answer.chunkText()).contains("\"b499\"").doesNotContain("\"c499\"");
        CompletableFuture<String> third = CompletableFuture.supplyAsync(answer::chunkText);

        beats.write(
            "GET /w/_changes?feed=continuous&since=now&heartbeat=1000 HTTP/1.1\r\nHost: h\r\n\r\n");
        beats.readHead();
        for (int beat = 0; beat < 2; beat++) {
          assertThat(beats.chunkText()).isBlank();
        }
        assertThat(third).isNotDone();
        slow.close();
        assertThat(third.join()).contains("\"c499\"");
      }
    }

    /** The previous body may be released a moment after its answer. */
    private void storePart(String name, int textBytes) {
      String documents = part(name, textBytes);
      Await.until(
          "there is room for the body",
          () -> server.post("/parts/_bulk_docs", documents).status() == 201);
    }

    /** Returns as many documents as one part of an answer may have. */
    private static String part(String name, int textBytes) {
      return IntStream.range(100, 100 + DOCUMENTS)
          .mapToObj(i -> "{\"_id\":\"" + name + i + "\",\"v\":\"" + "x".repeat(textBytes) + "\"}")
          .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    }

    /** Memory is available again before the connection would be closed as idle. */
    @Test
    void a_client_that_takes_nothing_is_closed_when_others_need_what_it_holds() {
      try (LectusServer impatient =
          LectusServer.start(
              stores.fresh(),
              new TestSettings().pageMemoryBytes(1).stalledSeconds(1).maxRequestBytes(8 << 20))) {
        impatient.put("/w");
        impatient.write("/w/large", "{\"v\":\"" + "x".repeat(7_000_000) + "\"}");
        try (Connection stalled = new Connection(impatient.port(), 16 << 10);
            Connection beats = impatient.connect()) {
          stalled.write("GET /w/large HTTP/1.1\r\nHost: h\r\n\r\n");
          stalled.readHead().expect(200);
          beats
              .write(
                  "GET /w/_changes?feed=continuous&since=now&heartbeat=1000 HTTP/1.1\r\n"
                      + "Host: h\r\n\r\n")
              .readHead();
          for (int beat = 0; beat < 3; beat++) {
            assertThat(beats.chunkText()).isBlank();
          }
          // Nobody was refused so far.
          impatient.get("/w/large").expect(503);
          Await.until("it is given back", () -> impatient.get("/w/large").status() == 200);
        }
      }
    }

    /** Ids in the URL count like ids in a body. */
    @Test
    void the_ids_of_a_live_feed_are_counted_until_it_ends() {
      server.put("/w");
      String ids = "%5B%22a%22" + ",%22b%22".repeat(800) + "%5D";
      String target = "/w/_changes?feed=continuous&heartbeat=60000&filter=_doc_ids&doc_ids=" + ids;
      List<Connection> feeds = new ArrayList<>();
      try {
        Connection last = feed(target, feeds);
        while (last.readHead().status() == 200) {
          assertThat(feeds).hasSizeLessThan(100);
          last = feed(target, feeds);
        }
        assertThat(feeds).hasSizeGreaterThan(10);
      } finally {
        feeds.forEach(Connection::close);
      }
      Await.until(
          "it is given back",
          () -> {
            try (Connection again = feed(target, new ArrayList<>())) {
              return again.readHead().status() == 200;
            }
          });
    }

    private Connection feed(String target, List<Connection> feeds) {
      Connection feed = server.request("GET", target).open();
      feeds.add(feed);
      return feed;
    }

    /** The feed may last for years. */
    @Test
    void a_live_feed_holds_nothing_of_its_body() {
      server.put("/w");
      String ids = "{\"doc_ids\":[\"a\"" + ",\"b\"".repeat(20_000) + "]}";
      try (Connection feed =
          post("/w/_changes?feed=continuous&filter=_doc_ids&heartbeat=60000")
              .body(ids.getBytes(StandardCharsets.UTF_8))
              .open()) {
        feed.readHead().expect(200);
        server.post("/w/_all_docs", KEYS).expect(200);
      }
    }

    @Test
    void a_filter_that_takes_too_much_memory_is_413() {
      server.put("/w");
      String ids = "{\"doc_ids\":[\"a\"" + ",\"b\"".repeat(100_000) + "]}";
      Answer refused =
          server
              .post("/w/_changes?feed=continuous&filter=_doc_ids&heartbeat=60000", ids)
              .expect(413);
      assertThat(refused.member("reason")).startsWith("The filter takes more memory");
    }

    @Test
    void compressed_bodies_hold_what_they_are_decompressed() {
      writeDocuments();
      try (Connection client = slowRequest()) {
        compressed().send().expect(503);
      }
      AtomicReference<Answer> plain = new AtomicReference<>();
      Await.until(
          "it is given back",
          () -> {
            plain.set(server.post("/w/_all_docs", KEYS));
            return plain.get().status() == 200;
          });
      // A client may send its next request before the server has noted that the answer is sent.
      Await.until(
          "it is answered alike", () -> compressed().send().body().equals(plain.get().body()));
    }

    @Test
    void a_body_that_nobody_can_decompress_holds_nothing() {
      server.put("/w");
      Request unknown = post("/w/_all_docs").header("Content-Encoding", "br");
      unknown.body(KEYS.repeat(10).getBytes(StandardCharsets.UTF_8)).send().expect(415);
      Await.until("nothing is held", () -> server.post("/w/_all_docs", KEYS).status() == 200);
    }

    /** The client has left before anything listens for that. */
    @Test
    void a_client_that_goes_away_while_its_body_is_decompressed_gives_it_back() {
      writeDocuments();
      for (String target : List.of("/w/_all_docs?include_docs=true", FEED_WITHOUT_END)) {
        for (int i = 0; i < 10; i++) {
          compressed(target, KEYS + " ".repeat(4_000_000)).open().close();
          Await.until("it is given back", () -> server.post("/w/_all_docs", KEYS).status() == 200);
        }
      }
    }

    @Test
    void a_client_that_goes_away_before_its_upload_is_read_holds_nothing() {
      FrozenStore frozen = new FrozenStore(stores.fresh(), false);
      TestSettings patient = settings().slowBodySeconds(3_600);
      try (LectusServer slow = LectusServer.start(frozen.store(), patient)) {
        slow.put("/w");
        String rev = slow.write("/w/d", "{}");
        frozen.freeze("lectus-reader");
        try (Connection client = new Connection(slow.port(), 16 << 10)) {
          client.write(
              "PUT /w/d/a?rev=" + rev + " HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
          Await.until("its document is looked up", () -> frozen.held() > 0);
        }
        Await.until("the server knows", () -> slow.figure("lectus_connections") == 1);
        frozen.thaw();

        Await.until(
            "there is room for another",
            () -> slow.put("/w/d/b?rev=" + rev, "x".repeat(1_000_000)).status() == 201);
      } finally {
        frozen.thaw();
      }
    }

    private Request compressed() {
      return compressed("/w/_all_docs", KEYS);
    }

    private Request compressed(String target, String json) {
      return post(target).gzipped(json);
    }

    private Request post(String target) {
      return server.request("POST", target, "Content-Type", "application/json");
    }
  }

  /** The memory that an exchange takes, and that it releases exactly as much. */
  @Nested
  class OfExchanges {
    private static final int FREE = 16 << 10;
    private static final int LIMIT = 10 << 20;

    private final BodyMemory bodies = new BodyMemory(LIMIT, "Too much is held.");
    private final MemoryAccount answers = new MemoryAccount(LIMIT, "Too much is held.");
    private final MemoryAccount filters = new MemoryAccount(LIMIT, "Too much is held.");

    private final ClientMemory memory =
        new ClientMemory(
            bodies,
            new MemoryAccount(1, "Too much is held."),
            answers,
            filters,
            new CompressionQuota(0));
    @AutoClose private final Vertx vertx = Vertx.vertx();
    private final HeldMemory held = held(Duration.ofMinutes(1));

    private HeldMemory held(Duration patience) {
      return new HeldMemory(memory, vertx.getOrCreateContext(), patience, () -> "client");
    }

    private static void join(Future<Void> counted) {
      counted.toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void a_body_is_counted_from_its_first_byte() {
      held.bodyGrows(1);
      assertThat(bodies.held()).isEqualTo(1);
      held.bodyGrows(FREE);
      assertThat(bodies.held()).isEqualTo(FREE + 1);
      held.giveBack();
      assertThat(bodies.held()).isZero();
    }

    @Test
    void a_compressed_body_is_large_until_its_length_is_known() {
      held.bodyGrows(100);
      assertThat(held.hasLargeBody()).isFalse();
      held.bodyIsCompressed();
      assertThat(held.hasLargeBody()).isTrue();
      held.bodyIsDecompressed(MemoryAccount.SMALL_BYTES - 100);
      assertThat(held.hasLargeBody()).isFalse();
      held.bodyGrows(1);
      assertThat(held.hasLargeBody()).isTrue();
      assertThat(bodies.held()).isEqualTo(MemoryAccount.SMALL_BYTES + 1);
    }

    @Test
    void what_is_made_of_a_body_is_given_back_with_it() {
      held.bodyGrows(1 << 20);
      held.parsing().add(20 << 20);
      assertThat(bodies.held()).isGreaterThanOrEqualTo(5 << 20);
      held.giveBack();
      assertThat(bodies.held()).isZero();
    }

    @Test
    void a_filter_takes_the_place_of_the_body_that_it_was() {
      held.bodyGrows(1 << 20);
      held.parsing().add(20 << 20);
      held.bodyBecomesFilter(LIMIT);
      assertThat(bodies.held()).isZero();
      assertThat(filters.held()).isEqualTo(LIMIT);
      held.giveBack();
      assertThat(filters.held()).isZero();

      held.bodyGrows(1);
      assertThatThrownBy(() -> held.bodyBecomesFilter(LIMIT + 1)).hasMessageContaining("filter");
      assertThat(filters.held()).isZero();
    }

    @Test
    void a_request_that_is_finished_twice_gives_back_once() {
      held.bodyGrows(1 << 20);
      held.parsing().add(20 << 20);
      held.giveBack();
      held.giveBack();
      assertThat(bodies.held()).isZero();
    }

    @Test
    void an_answer_is_held_until_its_client_has_taken_it() {
      Promise<Void> small = Promise.promise();
      held.whileSent(bytes(FREE), small::future);
      assertThat(answers.held()).isZero();
      small.complete();
      assertThat(answers.held()).isZero();

      Promise<Void> large = Promise.promise();
      held.whileSent(bytes(FREE + 1), large::future);
      held.giveBack();
      assertThat(answers.held()).isEqualTo(FREE + 1);
      large.complete();
      assertThat(answers.held()).isZero();
    }

    @Test
    void it_is_held_until_its_client_is_gone() {
      Promise<Void> large = Promise.promise();
      held.whileSent(bytes(FREE + 1), large::future);
      assertThat(answers.held()).isEqualTo(FREE + 1);
      large.fail("the client is gone");
      assertThat(answers.held()).isZero();
    }

    @Test
    void an_answer_that_cannot_be_sent_is_given_back() {
      IllegalArgumentException unsent = new IllegalArgumentException();
      assertThatThrownBy(() -> held.whileSent(bytes(FREE + 1), () -> thrown(unsent)))
          .isSameAs(unsent);
      assertThat(answers.held()).isZero();
    }

    @Test
    void nothing_is_sent_when_others_hold_too_much() {
      answers.reserve(LIMIT, 0);
      Promise<Void> sent = Promise.promise();
      assertThatThrownBy(() -> held.whileSent(bytes(1 << 20), () -> completed(sent)))
          .isInstanceOf(LectusException.class);
      assertThat(sent.future().isComplete()).isFalse();
      held.giveBack();
      assertThat(answers.held()).isEqualTo(LIMIT);
    }

    @Test
    void a_body_waits_for_what_others_hold_and_is_refused_when_its_time_is_over() {
      HeldMemory other = held(Duration.ofMinutes(1));
      join(other.bodyGrows(LIMIT));
      HeldMemory hasty = held(Duration.ofMillis(1));
      assertThatThrownBy(() -> join(hasty.bodyGrows(1 << 20)))
          .hasCauseInstanceOf(LectusException.class)
          .hasMessageContaining("Too much is held.");
      assertThat(hasty.tryBodyGrows(1 << 20)).isFalse();
      Future<Void> counted = held.bodyGrows(1 << 20);
      assertThat(counted.isComplete()).isFalse();
      other.giveBack();
      join(counted);
      assertThat(bodies.held()).isEqualTo(1 << 20);
      assertThat(bodies.waiting()).isZero();
    }

    @Test
    void what_passes_through_counts_a_fifth() {
      join(held.passes(500_003));
      assertThat(bodies.held()).isEqualTo(100_000);
      assertThat(held.tryPasses(1_000_000)).isTrue();
      assertThat(bodies.held()).isEqualTo(200_000);
      assertThat(held.tryPasses(5L * (LIMIT + (1 << 20)))).isTrue();
      join(held(Duration.ofMinutes(1)).passes(10));
      assertThat(held.tryPasses(4)).isTrue();
      assertThat(bodies.held()).isEqualTo(2);
    }

    private static Future<Void> thrown(RuntimeException failure) {
      throw failure;
    }

    private static Future<Void> completed(Promise<Void> sent) {
      sent.complete();
      return sent.future();
    }

    private static Buffer bytes(int length) {
      return Buffer.buffer(new byte[length]);
    }
  }
}
