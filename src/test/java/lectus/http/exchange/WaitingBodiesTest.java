package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.config.ProxyKeys;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.http.limits.MemoryAccount;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.WrappedTransactions;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that find no memory, and what becomes of those that hold it. */
final class WaitingBodiesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int LIMIT = 1 << 20;

  /** Half of {@link #LIMIT} and more, so that two do not fit. */
  private static final int LARGE = 600_000;

  /** Two chunks, a fifth of whose bytes count, and the document {@code {}}. */
  private static final int UPLOAD = 36_002;

  /** They take more memory than a portion, and an answer of 0.3 MB. */
  private static final int SMALL_DOCUMENTS = 2_200;

  /** The request lies in the database; a quarter of the document counts once it is parsed. */
  private static final int LARGE_DOCUMENT = 3_000_000;

  private final ExecutorService clients = Executors.newCachedThreadPool();
  private LectusServer server;

  @AfterEach
  void stop() {
    clients.shutdownNow();
    if (server != null) {
      server.close();
    }
  }

  private void start(TestSettings settings) {
    server = LectusServer.start(stores.fresh(), settings.bodyMemoryBytes(LIMIT));
    server.put("/w");
  }

  private static String document(int bytes) {
    return "{\"v\":\"" + "x".repeat(bytes - 8) + "\"}";
  }

  private static String bulk(String prefix, int documents, int bytes) {
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    for (int i = 0; i < documents; i++) {
      docs.append(i == 0 ? "" : ",").append("{\"_id\":\"" + prefix + i + "\",");
      docs.append(document(bytes), 1, bytes);
    }
    return docs.append("]}").toString();
  }

  private List<Answer> sendAtOnce(int count, IntFunction<Request> requests) {
    List<CompletableFuture<Answer>> sent =
        IntStream.range(0, count)
            .mapToObj(i -> CompletableFuture.supplyAsync(() -> requests.apply(i).send(), clients))
            .toList();
    return sent.stream().map(CompletableFuture::join).toList();
  }

  private long figure(String name) {
    return server.figure(name + "{account=\"bodies\"}");
  }

  private void awaitNothingHeld() {
    Await.until("nothing is held", () -> figure("lectus_memory_bytes") == 0);
  }

  private void awaitWaiting(int count) {
    Await.until("they wait", () -> figure("lectus_memory_waiting") == count);
  }

  /** Returns a connection that has sent so much of a document that nothing large fits beside it. */
  private Connection holder() {
    Connection holder =
        server.request("PUT", "/w/holder", "Content-Length", "" + (LIMIT + 8)).open();
    holder.write(document(LIMIT + 8).substring(0, LIMIT));
    Await.until("it is held", () -> figure("lectus_memory_bytes") >= LIMIT);
    return holder;
  }

  private static void finish(Connection holder) {
    holder.write("xxxxxx\"}").read(false).expect(201);
  }

  @Test
  void many_large_bodies_at_once_are_all_taken() {
    start(new TestSettings());
    List<Answer> documents =
        sendAtOnce(20, i -> server.request("PUT", "/w/d" + i).json(document(LARGE)));
    assertThat(documents).allMatch(answer -> answer.status() == 201);
    List<Answer> lists =
        sendAtOnce(
            5, i -> server.request("POST", "/w/_bulk_docs").json(bulk("b" + i + "-", 40, 50_000)));
    assertThat(lists).allMatch(answer -> answer.status() == 201);
    List<Answer> attachments =
        sendAtOnce(20, i -> server.request("PUT", "/w/a" + i + "/a").body(new byte[LARGE]));
    assertThat(attachments).allMatch(answer -> answer.status() == 201);

    assertThat(server.get("/w").body()).contains("\"doc_count\":240,");
    awaitNothingHeld();
  }

  private static String keys(int count) {
    return "{\"keys\":[" + "0,".repeat(count - 1) + "0]}";
  }

  /** A value takes 70 bytes, of which four bytes of the body make room for 16. */
  @Test
  void a_body_waits_for_room_for_its_small_values() {
    start(new TestSettings());
    try (Connection holder = holder()) {
      CompletableFuture<Answer> few =
          CompletableFuture.supplyAsync(() -> server.post("/w/_all_docs", keys(1_000)), clients);
      few.join().expect(200);
      CompletableFuture<Answer> many =
          CompletableFuture.supplyAsync(() -> server.post("/w/_all_docs", keys(30_000)), clients);
      awaitWaiting(1);
      assertThat(many).isNotDone();
      finish(holder);
      many.join().expect(200);
    }
    awaitNothingHeld();
    server.post("/w/_all_docs", keys(2_000_000)).expect(413);
    awaitNothingHeld();
  }

  /** Nobody knows how long they are, so each may have begun when there is no more room. */
  @Test
  void bodies_of_unknown_length_do_not_wait_for_each_other_for_ever() {
    start(new TestSettings());
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      connections.add(server.request("PUT", "/w/d" + i, "Transfer-Encoding", "chunked").open());
    }
    String chunk = Integer.toHexString(100_000) + "\r\n" + "x".repeat(100_000) + "\r\n";
    List<CompletableFuture<Answer>> answers =
        connections.stream()
            .map(
                connection ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          connection.write("6\r\n{\"v\":\"\r\n" + chunk.repeat(9));
                          return connection.write("2\r\n\"}\r\n0\r\n\r\n").read(false);
                        },
                        clients))
            .toList();
    assertThat(answers).allMatch(answer -> answer.join().status() == 201);
    connections.forEach(Connection::close);
    awaitNothingHeld();
  }

  @Test
  void compressed_bodies_wait_for_room_for_what_they_are_decompressed() {
    start(new TestSettings());
    List<Answer> answers =
        sendAtOnce(10, i -> server.request("PUT", "/w/d" + i).gzipped(document(LARGE)));
    assertThat(answers).allMatch(answer -> answer.status() == 201);
    awaitNothingHeld();
  }

  /** Each is parsed into more than a hundred times its length, a quarter of a megabyte counts. */
  @Test
  void what_bodies_are_parsed_into_waits_for_room() {
    start(new TestSettings());
    String empty = "{\"docs\":[" + "{},".repeat(1_499) + "{}]}";
    List<Answer> answers = sendAtOnce(10, i -> server.request("POST", "/w/_bulk_docs").json(empty));
    assertThat(answers).allMatch(answer -> answer.status() == 201);
    awaitNothingHeld();
  }

  @Test
  void who_has_waited_for_too_long_is_refused_and_told_when_to_come_back() {
    start(new TestSettings().requestSeconds(4));
    try (Connection holder = holder()) {
      Answer refused = server.put("/w/large", document(LARGE)).expect(503);
      assertThat(refused.header("retry-after")).isEqualTo("1");
      assertThat(refused.member("reason")).isEqualTo("Too many large requests are running.");
      assertThat(figure("lectus_memory_refusals_total")).isEqualTo(1);
      server.put("/w/small", document(MemoryAccount.SMALL_BYTES)).expect(201);
      finish(holder);
    }
    server.put("/w/large", document(LARGE)).expect(201);
  }

  @Test
  void who_stops_sending_while_others_wait_is_408() {
    start(new TestSettings().requestSeconds(60).slowBodySeconds(2));
    try (Connection holder = holder()) {
      server.put("/w/large", document(LARGE)).expect(201);
      holder.read(false).expect(408);
    }
  }

  /** Who stores chunks of zeros is kept waiting, without a limit, while the gate is closed. */
  private static Store gated(Store inner, CompletableFuture<Void> gate) {
    return WrappedTransactions.of(
        inner,
        tx -> {
          AtomicBoolean hasChunks = new AtomicBoolean();
          return WrappedTransactions.proxy(
              Transaction.class,
              (method, arguments) -> {
                if (method.getName().equals("set")) {
                  byte[] value = (byte[]) arguments[1];
                  hasChunks.compareAndSet(false, value.length > 50_000 && value[0] == 0);
                }
                if (method.getName().equals("commit") && hasChunks.get()) {
                  gate.join();
                }
                return WrappedTransactions.call(tx, method, arguments);
              });
        });
  }

  private void start(CompletableFuture<Void> gate, TestSettings settings) {
    server = LectusServer.start(gated(stores.fresh(), gate), settings.bodyMemoryBytes(LIMIT));
    server.put("/w");
  }

  /** Returns a connection that has sent a document that is held until the gate opens. */
  private Connection unstored(int bytes) {
    String json =
        document(bytes).replace("}", ",\"_attachments\":{\"a\":{\"data\":\"")
            + "A".repeat(80_000)
            + "\"}}}";
    Connection whole = server.request("PUT", "/w/whole", "Transfer-Encoding", "chunked").open();
    whole.write(Integer.toHexString(json.length()) + "\r\n" + json + "\r\n0\r\n\r\n");
    Await.until("it is held", () -> figure("lectus_memory_bytes") > bytes);
    return whole;
  }

  /** A quarter of what its documents are parsed into is counted: 0.25 MB of the small ones. */
  private static String bulkWithLargeEnd(int bytes, String members) {
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    for (int i = 0; i < SMALL_DOCUMENTS; i++) {
      docs.append("{\"_id\":\"d").append(i).append("\",\"_rev\":\"1-a\"},");
    }
    docs.append("{\"_id\":\"large\",\"_rev\":\"1-a\",");
    docs.append(document(bytes), 1, bytes).append(',');
    String all = docs.append("{\"_id\":\"end\",\"_rev\":\"1-a\"}]").append(members).toString();
    return members.isEmpty() ? all.replace(",\"_rev\":\"1-a\"", "") + "}" : all + "}";
  }

  private Answer bulk(String body) {
    return server.request("POST", "/w/_bulk_docs").json(body).send();
  }

  @Test
  void documents_that_find_no_memory_after_others_are_stored_are_told_one_by_one() {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    start(gate, new TestSettings().requestSeconds(6));
    try (Connection holder = unstored(70_000)) {
      Answer part = bulk(bulkWithLargeEnd(LARGE_DOCUMENT, "")).expect(201);
      String refused = "\",\"error\":\"service_unavailable\",\"reason\":";
      assertThat(part.body())
          .contains("{\"ok\":true,\"id\":\"d2199\",\"rev\":", "},{\"id\":\"large" + refused)
          .contains("},{\"id\":\"end" + refused)
          .endsWith("}]\n")
          .doesNotContain("\"id\":\"d0" + refused);
      assertThat(rows(part)).isEqualTo(SMALL_DOCUMENTS + 2);
      assertThat(server.get("/w").body()).contains("\"doc_count\":2200,");

      bulk(bulkWithLargeEnd(LARGE_DOCUMENT, ",\"new_edits\":false")).expect(503);
      gate.complete(null);
      holder.read(false);
    }
    Answer again = bulk(bulkWithLargeEnd(LARGE_DOCUMENT, ""));
    assertThat(again.body())
        .contains("{\"ok\":true,\"id\":\"large\"", "{\"ok\":true,\"id\":\"end\"");
    assertThat(rows(again)).isEqualTo(SMALL_DOCUMENTS + 2);
    awaitNothingHeld();
  }

  private static int rows(Answer answer) {
    return answer.body().split("\"id\":").length - 1;
  }

  /** Deletes the database once a document {@code first} is stored, before anybody is told. */
  private Store deletingAfterFirst(Store inner) {
    return WrappedTransactions.of(
        inner,
        tx -> {
          AtomicBoolean hasFirst = new AtomicBoolean();
          return WrappedTransactions.proxy(
              Transaction.class,
              (method, arguments) -> {
                if (method.getName().equals("set")) {
                  String key = new String((byte[]) arguments[0], StandardCharsets.ISO_8859_1);
                  hasFirst.compareAndSet(false, key.contains("first"));
                }
                return method.getName().equals("commit") && hasFirst.get()
                    ? tx.commit().thenRunAsync(() -> server.request("DELETE", "/w").send(), clients)
                    : WrappedTransactions.call(tx, method, arguments);
              });
        });
  }

  /** It is longer than what may be held, so it lies in the database. */
  @Test
  void a_request_that_cannot_be_read_to_its_end_has_a_row_for_each_document() {
    server =
        LectusServer.start(
            deletingAfterFirst(stores.fresh()), new TestSettings().bodyMemoryBytes(LIMIT));
    server.put("/w");
    int documents = 300;
    Answer answer = bulk(bulk("d", documents, 10_000).replace("\"d0\"", "\"first\"")).expect(201);
    assertThat(answer.body())
        .startsWith("[{\"ok\":true,\"id\":\"first\"")
        .endsWith(",{\"error\":\"not_found\",\"reason\":\"Database does not exist.\"}]\n");
    assertThat(answer.body().split("\\},\\{")).hasSize(documents);
  }

  @Test
  void nothing_is_stored_if_there_is_no_memory_for_the_answer() {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    start(gate, new TestSettings().requestSeconds(6));
    try (Connection holder = unstored(550_000)) {
      bulk(bulkWithLargeEnd(200_000, "")).expect(503);
      assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
      gate.complete(null);
      holder.read(false);
    }
    bulk(bulkWithLargeEnd(200_000, "")).expect(201);
    server.get("/w/end").expect(200);
  }

  /** Seconds are counted while another body stops, which is refused after three. */
  @Test
  void a_body_that_has_come_is_in_time_however_long_the_server_works() {
    CompletableFuture<Void> gate = new CompletableFuture<>();
    start(gate, new TestSettings().requestSeconds(60).slowBodySeconds(2));
    try (Connection whole = unstored(100_000);
        Connection large = server.request("PUT", "/w/large", "Content-Length", "" + LIMIT).open();
        Connection slow = server.request("PUT", "/w/slow", "Content-Length", "1000").open()) {
      large.write(document(LIMIT).substring(0, LARGE));
      awaitWaiting(1);
      slow.write("{").read(false).expect(408);
      assertThat(figure("lectus_memory_waiting")).isEqualTo(1);
      gate.complete(null);
      large.write(document(LIMIT).substring(LARGE));
      whole.read(false).expect(201);
      large.read(false).expect(201);
    }
    awaitNothingHeld();
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 61, 1L << 62, Long.MAX_VALUE})
  void a_length_that_never_comes_takes_no_memory(long announced) {
    start(
        new TestSettings()
            .documents(
                new DocumentLimits(
                    DocumentLimits.DEFAULT.idBytes(),
                    DocumentLimits.DEFAULT.json(),
                    new AttachmentSettings(Long.MAX_VALUE, Compression.of(0, List.of())))));
    try (Connection upload =
        server.request("PUT", "/w/a/a", "Content-Length", "" + announced).open()) {
      upload.write(new byte[1_000]);
      Await.until("it is held", () -> figure("lectus_memory_bytes") == UPLOAD);
    }
    awaitNothingHeld();
  }

  @Test
  void a_client_that_leaves_while_it_waits_is_forgotten() {
    start(new TestSettings());
    try (Connection holder = holder()) {
      try (Connection leaving =
          server.request("PUT", "/w/left", "Content-Length", "" + LARGE).open()) {
        leaving.write("{\"v\":\"" + "x".repeat(100_000));
        awaitWaiting(1);
      }
      finish(holder);
    }
    awaitNothingHeld();
    assertThat(figure("lectus_memory_waiting")).isZero();
    server.get("/w/left").expect(404);
  }

  private static TestSettings behindProxy() {
    return new TestSettings()
        .requestSeconds(60)
        .with(ProxyKeys.TRUSTED_PROXIES, "127.0.0.1")
        .with(ProxyKeys.FORWARDED_HEADER, "x-forwarded");
  }

  @Test
  void slow_uploads_that_fill_the_memory_give_way_to_those_of_others() {
    start(behindProxy());
    List<Connection> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 2 * LIMIT / UPLOAD; i++) {
        slow.add(slowUpload(i, 1_000));
      }
      Await.until(
          "they fill it", () -> figure("lectus_memory_bytes") > 2 * LIMIT - UPLOAD - UPLOAD);
      server
          .request("PUT", "/w/other/a", "X-Forwarded-For", "192.0.2.2")
          .body(new byte[LARGE])
          .send()
          .expect(201);
    } finally {
      slow.forEach(Connection::close);
    }
    awaitNothingHeld();
  }

  @Test
  void clients_take_turns_by_their_addresses() {
    start(behindProxy());
    List<String> taken = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    try (Connection holder = holder()) {
      int waiting = 0;
      for (String name : List.of("a1", "a2", "a3", "b1")) {
        Request request =
            server
                .request(
                    "PUT",
                    "/w/" + name,
                    "X-Forwarded-For",
                    name.startsWith("a") ? "192.0.2.1" : "192.0.2.2")
                .json(document(2 * LIMIT));
        sent.add(
            CompletableFuture.runAsync(
                () -> {
                  request.send().expect(201);
                  taken.add(name);
                },
                clients));
        waiting++;
        awaitWaiting(waiting);
      }
      finish(holder);
    }
    sent.forEach(CompletableFuture::join);
    assertThat(taken).containsExactly("a1", "b1", "a2", "a3");
  }

  private Connection slowUpload(int number, int sent) {
    Connection upload =
        server.request("PUT", "/w/slow" + number + "/a", "Content-Length", "1000000").open();
    return upload.write(new byte[sent]);
  }

  @Test
  void slow_uploads_leave_room_for_others() {
    start(new TestSettings());
    List<Connection> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 50; i++) {
        slow.add(slowUpload(i, 80_000));
      }
      Await.until("they have begun", () -> figure("lectus_memory_bytes") == 50 * UPLOAD);
      List<Answer> quick =
          sendAtOnce(10, i -> server.request("PUT", "/w/q" + i + "/a").body(new byte[LARGE]));
      assertThat(quick).allMatch(answer -> answer.status() == 201);
      Await.until("they hold no more", () -> figure("lectus_memory_bytes") == 50 * UPLOAD);
      slow.get(0).write(new byte[920_000]).read(false).expect(201);
    } finally {
      slow.forEach(Connection::close);
    }
    awaitNothingHeld();
  }

  @Test
  void an_upload_holds_two_chunks_when_it_rests_however_much_has_come() {
    start(new TestSettings());
    try (Connection upload = slowUpload(0, 0)) {
      for (int i = 0; i < 9; i++) {
        upload.write(new byte[110_000]);
        Await.until("it holds little", () -> figure("lectus_memory_bytes") == UPLOAD);
      }
      upload.write(new byte[10_000]).read(false).expect(201);
    }
  }

  @Test
  void uploads_beyond_the_memory_wait_until_others_are_done() {
    start(new TestSettings());
    List<Connection> slow = new ArrayList<>();
    try {
      // As many as have two chunks in the limit and what is kept for small ones.
      int most = 2 * LIMIT / UPLOAD;
      for (int i = 0; i < most + 2; i++) {
        slow.add(slowUpload(i, 1_000));
      }
      awaitWaiting(2);
      for (int i = 0; i < 2; i++) {
        slow.get(i).write(new byte[999_000]).read(false).expect(201);
      }
      awaitWaiting(0);
      slow.get(most + 1).write(new byte[999_000]).read(false).expect(201);
    } finally {
      slow.forEach(Connection::close);
    }
    awaitNothingHeld();
  }

  /** What waits of some must not fill the window of those that have room. */
  @Test
  void bodies_that_share_a_connection_do_not_keep_each_other_from_coming() throws Exception {
    start(new TestSettings());
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
    HttpRequest up = HttpRequest.newBuilder(URI.create(server.url() + "/_up")).build();
    assertThat(client.send(up, BodyHandlers.ofString()).version())
        .isEqualTo(HttpClient.Version.HTTP_2);
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      HttpRequest put =
          HttpRequest.newBuilder(URI.create(server.url() + "/w/d" + i))
              .PUT(BodyPublishers.ofString(document(LARGE)))
              .build();
      answers.add(client.sendAsync(put, BodyHandlers.ofString()));
    }
    assertThat(answers)
        .allSatisfy(
            answer -> {
              assertThat(answer.join().statusCode()).isEqualTo(201);
              assertThat(answer.join().version()).isEqualTo(HttpClient.Version.HTTP_2);
            });
    awaitNothingHeld();
  }
}
