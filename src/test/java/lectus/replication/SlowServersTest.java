package lectus.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import lectus.database.UserContext;
import lectus.http.client.HttpCaller;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.ReplicationRequest.Defaults;
import lectus.replication.Replicator.ReplicatorSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replications whose other end is busy, silent, or in a hurry; and with little memory. */
final class SlowServersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Set<String> OF_THE_CONNECTION =
      Set.of("connection", "content-length", "host", "transfer-encoding", "date", "expect");

  private final LectusServer here = LectusServer.start(stores.fresh());
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpClient client = HttpClient.newHttpClient();
  private final HttpServer front = front();

  /** Bytes of bodies that have passed. */
  private final AtomicLong passed = new AtomicLong();

  /** What answers in place of the server; false: it answers itself. */
  private volatile Predicate<HttpExchange> answers = any -> false;

  private HttpServer front() {
    try {
      HttpServer made =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      made.createContext("/", this::answer);
      made.setExecutor(threads);
      made.start();
      return made;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    passed.addAndGet(body.length);
    if (answers.test(exchange)) {
      return;
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(here.url() + exchange.getRequestURI()))
            .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
    exchange
        .getRequestHeaders()
        .forEach(
            (name, values) -> {
              if (!OF_THE_CONNECTION.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.header(name, value));
              }
            });
    try {
      HttpResponse<byte[]> answer =
          client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      answer
          .headers()
          .firstValue("Content-Type")
          .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
      passed.addAndGet(answer.body().length);
      answer(exchange, answer.statusCode(), answer.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void answer(HttpExchange exchange, int status, byte[] body) {
    try {
      exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    } catch (IOException e) {
      exchange.close();
    }
  }

  @AfterEach
  void stop() {
    answers = any -> false;
    front.stop(0);
    threads.shutdownNow();
    here.close();
  }

  private String fronted(String database) {
    return "http://127.0.0.1:" + front.getAddress().getPort() + "/" + database;
  }

  private static String described(String source, String target, String more) {
    return "{\"source\":\"%s\",\"target\":\"%s\"%s}".formatted(source, target, more);
  }

  private void awaitEnd() {
    Await.until("it ends", () -> here.get("/_active_tasks").body().strip().equals("[]"));
  }

  @Test
  void a_document_that_is_copied_alone_is_tried_again_when_the_server_wants_that() {
    here.put("/w");
    here.put("/copy");
    here.write("/w/a", "{\"_attachments\":{\"f\":{\"data\":\"YWJj\"}}}");
    List<Long> times = new CopyOnWriteArrayList<>();
    answers =
        exchange -> {
          boolean isDocument =
              exchange.getRequestURI().getPath().equals("/copy/a")
                  && exchange.getRequestHeaders().getFirst("Content-Type").startsWith("multipart/");
          if (isDocument) {
            times.add(System.nanoTime());
          }
          if (isDocument && times.size() == 1) {
            exchange.getResponseHeaders().set("Retry-After", "2");
            answer(exchange, 503, "{}".getBytes(StandardCharsets.UTF_8));
            return true;
          }
          return false;
        };

    assertThat(here.post("/_replicate", described("w", fronted("copy"), "")).body())
        .contains("\"docs_written\":1,\"doc_write_failures\":0");
    here.get("/copy/a/f").expect("abc");
    assertThat(times).hasSize(2);
    assertThat(times.get(1) - times.get(0)).isGreaterThanOrEqualTo(2_000_000_000L);
  }

  @Test
  void a_target_may_be_behind_a_proxy_that_does_not_reach_the_rest_of_its_server() {
    here.put("/w");
    here.put("/copy");
    here.write("/w/a", "{}");
    answers =
        exchange -> {
          boolean isOfServer = exchange.getRequestURI().getPath().equals("/");
          if (isOfServer) {
            answer(exchange, 503, new byte[0]);
          }
          return isOfServer;
        };

    String more = ",\"retries_per_request\":0";
    assertThat(here.post("/_replicate", described("w", fronted("copy"), more)).body())
        .contains("\"docs_written\":1,\"doc_write_failures\":0");
  }

  /** The server answers none of the requests before so many have come. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void so_many_requests_are_under_way_at_a_time(int connections) {
    here.put("/w");
    here.put("/copy");
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      docs.add("{\"_id\":\"d" + i + "\",\"_attachments\":{\"f\":{\"data\":\"YWJj\"}}}");
    }
    here.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
    CountDownLatch come = new CountDownLatch(connections);
    AtomicInteger underWay = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    answers =
        exchange -> {
          if (exchange.getRequestURI().getPath().startsWith("/copy/d")) {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            come.countDown();
            Await.until("all have come", () -> come.getCount() == 0);
            underWay.decrementAndGet();
          }
          return false;
        };

    String more = ",\"http_connections\":" + connections;
    assertThat(here.post("/_replicate", described("w", fronted("copy"), more)).body())
        .contains("\"docs_written\":12,");
    assertThat(most).hasValue(connections);
  }

  @Test
  void a_source_that_says_at_once_that_nothing_has_changed_is_asked_less_and_less() {
    here.put("/w");
    here.put("/copy");
    List<Long> times = new CopyOnWriteArrayList<>();
    answers =
        exchange -> {
          boolean waits = exchange.getRequestURI().getQuery() != null;
          waits = waits && exchange.getRequestURI().getQuery().contains("feed=longpoll");
          if (waits) {
            times.add(System.nanoTime());
            answer(
                exchange,
                200,
                "{\"results\":[],\"last_seq\":\"0\"}".getBytes(StandardCharsets.UTF_8));
          }
          return waits;
        };
    String body = described(fronted("w"), "copy", ",\"continuous\":true");

    here.post("/_replicate", body);
    Await.until("it has asked four times", () -> times.size() >= 4);

    // 250, 500 and 1 000 ms.
    assertThat(times.get(3) - times.get(0)).isGreaterThanOrEqualTo(1_750_000_000L);
    here.post(
        "/_replicate", described(fronted("w"), "copy", ",\"continuous\":true,\"cancel\":true"));
    awaitEnd();
  }

  @Test
  void a_revision_that_changes_name_twice_is_one() {
    here.put("/w");
    here.put("/copy");
    String rev = here.write("/w/a", "{}");
    String row =
        "{\"id\":\"a\",\"changes\":[{\"rev\":\"%s\"},{\"rev\":\"%s\"}]}".formatted(rev, rev);
    answers =
        exchange -> {
          boolean isFeed = exchange.getRequestURI().getPath().equals("/w/_changes");
          if (isFeed) {
            String page =
                "{\"results\":[" + row + "," + row + "],\"last_seq\":\"1\",\"pending\":0}";
            answer(exchange, 200, page.getBytes(StandardCharsets.UTF_8));
          }
          return isFeed;
        };

    assertThat(here.post("/_replicate", described(fronted("w"), "copy", "")).body())
        .contains("\"missing_checked\":1,\"missing_found\":1,\"docs_read\":1,\"docs_written\":1");
  }

  /** Rows that come again and again would be compared again and again. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void changes_that_end_where_they_begin_end_the_run(boolean continuous) {
    here.put("/w");
    here.put("/copy");
    String row =
        "{\"id\":\"a\",\"changes\":[{\"rev\":\"%s\"}]}".formatted(here.write("/w/a", "{}"));
    List<String> asked = new CopyOnWriteArrayList<>();
    answers =
        exchange -> {
          boolean isFeed = exchange.getRequestURI().getPath().equals("/w/_changes");
          if (isFeed) {
            asked.add(exchange.getRequestURI().getQuery());
            String page = "{\"results\":[" + row + "," + row + "],\"last_seq\":\"7\"}";
            answer(exchange, 200, page.getBytes(StandardCharsets.UTF_8));
          }
          return isFeed;
        };

    String more = ",\"worker_batch_size\":%s".formatted(continuous ? "3,\"continuous\":true" : "2");
    Answer begun = here.post("/_replicate", described(fronted("w"), "copy", more));
    assertThat(begun.body().contains("The changes end where they begin")).isNotEqualTo(continuous);
    // A continuous one begins anew, some seconds later.
    awaitEnd();
    here.post("/_replicate", described(fronted("w"), "copy", more + ",\"cancel\":true"));
    assertThat(asked.subList(0, 2))
        .satisfiesExactly(
            it -> assertThat(it).contains("since=0&"), it -> assertThat(it).contains("since=7&"));
  }

  /** As in CouchDB: what the source has is damaged, and stays so. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_document_whose_attachment_has_another_digest_is_refused_and_ends_nothing(boolean isLocal) {
    here.put("/w");
    here.put("/copy");
    here.write("/w/bad", "{\"_attachments\":{\"f\":{\"data\":\"YWJj\"}}}");
    here.write("/w/good", "{\"_attachments\":{\"f\":{\"data\":\"YWJk\"}}}");
    answers =
        exchange -> {
          boolean isOfBad =
              exchange.getRequestMethod().equals("GET")
                  && exchange.getRequestURI().getPath().equals("/w/bad");
          if (isOfBad) {
            exchange.getResponseHeaders().set("Content-Type", "multipart/mixed; boundary=o");
            answer(exchange, 200, damaged(here.get("/w/bad?revs=true")));
          }
          return isOfBad;
        };

    String target = isLocal ? "copy" : here.url() + "/copy";
    assertThat(here.post("/_replicate", described(fronted("w"), target, "")).body())
        .contains("\"docs_written\":1,\"doc_write_failures\":1");
    here.get("/copy/good/f").expect("abd");
    here.get("/copy/bad").expect(404);
  }

  /** Returns a document with a stub as one with other bytes, of the same length. */
  private static byte[] damaged(Answer document) {
    String following = document.body().strip().replace("\"stub\":true", "\"follows\":true");
    return """
    --o
    Content-Type: multipart/related; boundary=i

    --i
    Content-Type: application/json

    %s
    --i

    xyz
    --i--
    --o--\
    """
        .formatted(following)
        .replace("\n", "\r\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void a_stop_does_not_wait_for_a_server_that_never_answers() {
    here.put("/w");
    here.put("/copy");
    here.write("/w/a", "{\"text\":\"" + "x".repeat(9_000) + "\"}");
    CountDownLatch asked = new CountDownLatch(1);
    answers =
        exchange -> {
          boolean isBulk = exchange.getRequestURI().getPath().equals("/w/_bulk_get");
          if (isBulk) {
            asked.countDown();
          }
          return isBulk;
        };
    String more = ",\"continuous\":true,\"connection_timeout\":300000";

    here.post("/_replicate", described(fronted("w"), "copy", more));
    Await.until("it has asked", () -> asked.getCount() == 0);
    here.post("/_replicate", described(fronted("w"), "copy", more + ",\"cancel\":true"));

    awaitEnd();
  }

  /** Runs something with a replicator that has four threads, and memory for short documents. */
  private static <T> T with(int mostBytes, Function<Replicator, T> use) {
    return with(mostBytes, 0, use);
  }

  /**
   * @param memory for pages of changes that are larger than usual
   */
  private static <T> T with(int mostBytes, long memory, Function<Replicator, T> use) {
    Vertx vertx = Vertx.vertx();
    HttpCaller caller = new HttpCaller(vertx, ClientSettings.OF_COMMANDS);
    ReplicatorSettings settings =
        new ReplicatorSettings(
            ClientSettings.OF_COMMANDS, Defaults.OF_COUCHDB, Optional.empty(), memory, mostBytes);
    try (Replicator replicator =
        new Replicator(caller, Optional.empty(), "u", Replicator.threads(0), settings)) {
      return use.apply(replicator);
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void a_document_that_cannot_be_held_is_named() {
    here.put("/w");
    here.put("/copy");
    here.write("/w/fits", "{\"text\":\"" + "x".repeat(1_500) + "\"}");
    JsonObject request =
        (JsonObject)
            JsonValue.parse(
                described(here.url() + "/w", here.url() + "/copy", "")
                    .getBytes(StandardCharsets.UTF_8));
    ReplicationRequest parsed = ReplicationRequest.parse(request, Defaults.OF_COUCHDB);

    with(2_000, it -> it.prepare(parsed, UserContext.ANONYMOUS, Optional.empty()).start().join());
    here.get("/copy/fits").expect(200);

    here.write("/w/long", "{\"text\":\"" + "x".repeat(2_500) + "\"}");
    assertThatThrownBy(
            () ->
                with(
                    2_000,
                    it ->
                        it.prepare(parsed, UserContext.ANONYMOUS, Optional.empty()).start().join()))
        .hasMessageContaining("The document `long` cannot be held");
  }

  private void attach(String document, String type, byte[] bytes) {
    here.request("PUT", "/w/" + document, "Content-Type", type).body(bytes).send();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void an_attachment_that_the_target_has_is_not_sent(boolean pulls) {
    here.put("/w");
    here.put("/copy");
    byte[] noise = new byte[300_000];
    new Random(1).nextBytes(noise);
    byte[] text = HexFormat.of().formatHex(noise).getBytes(StandardCharsets.UTF_8);
    String request =
        pulls ? described(fronted("w"), "copy", "") : described("w", fronted("copy"), "");
    attach("a/noise", "image/png", noise);
    attach("b/text", "text/plain", text);
    here.post("/_replicate", request).expect(200);
    assertThat(passed.getAndSet(0)).as("the text is compressed").isBetween(600_000L, 1_200_000L);

    attach("c/other", "image/jpeg", noise);
    attach("d/other", "text/html", text);
    here.write("/w/e", "{\"_attachments\":{\"new\":{\"data\":\"YWJj\"}}}");
    byte[] more = Arrays.copyOf(noise, 50_000);
    here.write("/w/f", "{\"long\":\"" + "x".repeat(20_000) + "\"}");
    attach("f/noise?rev=" + here.get("/w/f").member("_rev"), "image/png", noise);
    attach("f/more?rev=" + here.get("/w/f").member("_rev"), "image/png", more);
    attach("f/text?rev=" + here.get("/w/f").member("_rev"), "text/plain", text);
    attach("f/again?rev=" + here.get("/w/f").member("_rev"), "image/gif", more);

    assertThat(here.post("/_replicate", request).body())
        .contains("\"docs_read\":6,\"docs_written\":6,\"doc_write_failures\":0");
    assertThat(passed.get())
        .as("one content that the target lacks, twice, and a long document a few times")
        .isBetween(100_000L, 225_000L);
    here.get("/copy/f").expect(here.get("/w/f").body());
    for (String name : List.of("noise", "more", "text", "again")) {
      assertThat(here.head("/copy/f/" + name).header("repr-digest"))
          .isEqualTo(here.head("/w/f/" + name).header("repr-digest"));
    }
    assertThat(here.get("/copy/d/other").body().getBytes(StandardCharsets.UTF_8)).isEqualTo(text);
    here.get("/copy/e/new").expect("abc");
    here.get("/copy/c").expect(here.get("/w/c").body());
  }

  /** Copies a thousand documents with long ids, and returns which changes were asked for. */
  private List<String> askedFor(long memory) {
    here.put("/w");
    here.put("/copy");
    String name = "x".repeat(200);
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      docs.add("{\"_id\":\"" + name + i + "\"}");
    }
    here.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
    List<String> asked = new CopyOnWriteArrayList<>();
    answers =
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          if (path.equals("/w/_changes")) {
            asked.add(exchange.getRequestURI().getQuery());
          } else if (path.equals("/w/_bulk_get")) {
            asked.add("many");
          }
          return false;
        };

    pull(memory);

    assertThat(here.get("/copy").body()).contains("\"doc_count\":1000,");
    return asked;
  }

  /**
   * @param memory for what threads hold, and for large pages
   */
  private void pull(long memory) {
    JsonObject request =
        (JsonObject)
            JsonValue.parse(
                described(fronted("w"), here.url() + "/copy", "").getBytes(StandardCharsets.UTF_8));
    ReplicationRequest parsed = ReplicationRequest.parse(request, Defaults.OF_COUCHDB);
    with(
        1 << 20,
        memory,
        it -> it.prepare(parsed, UserContext.ANONYMOUS, Optional.empty()).start().join());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void documents_whose_attachments_are_looked_for_are_kept_while_there_is_memory(boolean hasRoom) {
    here.put("/w");
    here.put("/copy");
    String file = "\"_attachments\":{\"f\":{\"data\":\"YWJj\"}}";
    here.write("/copy/has", "{" + file + "}");
    String body = "{\"text\":\"" + "x".repeat(6_000) + "\"," + file;
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      docs.add(body + ",\"_id\":\"d" + i + "\"}");
    }
    here.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
    AtomicInteger alone = new AtomicInteger();
    answers =
        exchange -> {
          alone.addAndGet(exchange.getRequestURI().getPath().startsWith("/w/d") ? 1 : 0);
          return false;
        };

    pull(hasRoom ? 8 << 20 : 0);

    assertThat(here.get("/copy").body()).contains("\"doc_count\":51,");
    here.get("/copy/d49/f").expect("abc");
    assertThat(alone.get()).isBetween(hasRoom ? 0 : 30, hasRoom ? 0 : 49);
  }

  @Test
  void documents_that_the_target_lacks_come_with_their_changes() {
    assertThat(askedFor(8 << 20))
        .hasSize(3)
        .allMatch(it -> it.contains("limit=500") && it.contains("small_docs=true"));
  }

  private static String documents(int from, int to) {
    List<String> docs = new ArrayList<>();
    for (int i = from; i < to; i++) {
      docs.add("{\"_id\":\"d%04d\"}".formatted(i));
    }
    return "{\"docs\":[" + String.join(",", docs) + "]}";
  }

  /** Pushes batches of a hundred, and returns how many requests of each name the target got. */
  private Map<String, Integer> pushed(boolean isKnown, String statistics) {
    Map<String, Integer> requests = new ConcurrentHashMap<>();
    answers =
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          requests.merge(path.substring(path.lastIndexOf('/') + 1), 1, Integer::sum);
          if (path.equals("/") && !isKnown) {
            answer(exchange, 200, "{\"couchdb\":\"Welcome\"}".getBytes(StandardCharsets.UTF_8));
          }
          return path.equals("/") && !isKnown;
        };
    String more = ",\"worker_processes\":1,\"worker_batch_size\":100,\"since_seq\":0";
    assertThat(here.post("/_replicate", described("w", fronted("copy"), more)).body())
        .contains(statistics);
    requests.keySet().retainAll(Set.of("_bulk_docs", "_revs_diff"));
    return requests;
  }

  @Test
  void a_target_that_tells_what_it_has_is_not_asked_while_it_lacks_most() {
    here.put("/w");
    here.put("/copy");
    here.post("/w/_bulk_docs", documents(0, 1_000));
    here.post("/copy/_bulk_docs", documents(150, 199));

    assertThat(
            pushed(
                true,
                "\"missing_checked\":1000,\"missing_found\":951,\"docs_read\":951,"
                    + "\"docs_written\":951,\"doc_write_failures\":0"))
        .isEqualTo(Map.of("_bulk_docs", 10));
    here.post("/w/_bulk_docs", documents(1_000, 1_300));
    assertThat(
            pushed(
                true,
                "\"missing_checked\":2300,\"missing_found\":1251,\"docs_read\":1251,"
                    + "\"docs_written\":1251,\"doc_write_failures\":0"))
        .as("sent: the first hundred of those it has, and three that it lacks")
        .isEqualTo(Map.of("_bulk_docs", 4, "_revs_diff", 10));
  }

  @Test
  void a_target_that_does_not_tell_what_it_has_is_always_asked() {
    here.put("/w");
    here.put("/copy");
    here.post("/w/_bulk_docs", documents(0, 300));

    assertThat(pushed(false, "\"missing_found\":300,\"docs_read\":300,\"docs_written\":300,"))
        .isEqualTo(Map.of("_bulk_docs", 3, "_revs_diff", 3));
  }

  @Test
  void a_request_with_more_than_the_target_takes_is_sent_in_parts() {
    here.put("/w");
    here.put("/copy");
    here.post("/w/_bulk_docs", documents(0, 60));
    here.write("/w/large", "{\"text\":\"" + "x".repeat(5_000) + "\"}");
    here.post("/copy/_bulk_docs", documents(20, 30));
    answers =
        exchange -> {
          boolean isLarge =
              exchange.getRequestURI().getPath().equals("/copy/_bulk_docs")
                  && Integer.parseInt(exchange.getRequestHeaders().getFirst("Content-Length"))
                      > 1_000;
          if (isLarge) {
            answer(exchange, 413, "{\"error\":\"too_large\"}".getBytes(StandardCharsets.UTF_8));
          }
          return isLarge;
        };

    assertThat(here.post("/_replicate", described("w", fronted("copy"), "")).body())
        .contains(
            "\"missing_checked\":61,\"missing_found\":51,\"docs_read\":51,"
                + "\"docs_written\":50,\"doc_write_failures\":1");
  }

  @Test
  void a_target_that_takes_no_more_ends_a_push_before_what_it_lacks() {
    here.put("/w");
    here.put("/copy");
    here.post("/w/_bulk_docs", documents(0, 1_000));
    AtomicInteger writes = new AtomicInteger();
    answers =
        exchange -> {
          boolean isRefused =
              exchange.getRequestURI().getPath().equals("/copy/_bulk_docs")
                  && writes.incrementAndGet() == 4;
          if (isRefused) {
            answer(exchange, 403, "{\"error\":\"forbidden\"}".getBytes(StandardCharsets.UTF_8));
          }
          return isRefused;
        };
    String request =
        described("w", fronted("copy"), ",\"worker_batch_size\":100,\"worker_processes\":1");

    here.post("/_replicate", request).expect(403);
    assertThat(here.get("/copy").body()).contains("\"doc_count\":300,");
    here.post("/_replicate", request).expect(200);
    assertThat(here.get("/copy").body()).contains("\"doc_count\":1000,");
  }

  @Test
  void without_memory_for_a_page_of_changes_fewer_are_asked_for() {
    assertThat(askedFor(0))
        .anyMatch(it -> it.contains("limit=500"))
        .anyMatch(it -> it.contains("limit=250"))
        .contains("many")
        .noneMatch(it -> it.contains("small_docs"));
  }

  @Test
  void whoever_has_many_steps_leaves_threads_to_others() {
    CompletableFuture<Void> silence = new CompletableFuture<>();
    with(
        1 << 20,
        replicator -> {
          CountDownLatch begun = new CountDownLatch(3);
          for (int i = 0; i < 10; i++) {
            replicator
                .executor(Optional.of("one"))
                .execute(
                    () -> {
                      begun.countDown();
                      silence.join();
                    });
          }
          CompletableFuture<Void> other =
              CompletableFuture.runAsync(() -> {}, replicator.executor(Optional.of("other")));
          other.orTimeout(60, TimeUnit.SECONDS).join();
          Await.until("three have begun", () -> begun.getCount() == 0);
          silence.complete(null);
          return CompletableFuture.runAsync(() -> {}, replicator.executor(Optional.of("one")))
              .orTimeout(60, TimeUnit.SECONDS)
              .join();
        });
  }
}
