package lectus.cli;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.Lectus;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.config.DocumentKeys;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestJava;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code import} and {@code compare} between two servers. */
final class ImportCommandTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int LARGEST = 10_000;
  private static final int KILLS = Integer.getInteger("lectus.test.import-kills", 1);
  private static final long SEED = Long.getLong("lectus.test.seed", 1);

  @AutoClose private final LectusServer there = LectusServer.start(stores.fresh());

  @AutoClose
  private final LectusServer here =
      LectusServer.start(
          stores.fresh(), new TestSettings().with(DocumentKeys.MAX_DOCUMENT_BYTES, LARGEST));

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Map<String, String> environment = new HashMap<>();

  /**
   * Stands before a server: notes what is asked, and may answer with other texts than the server.
   */
  private static final class Relay implements AutoCloseable {
    /** Each request as {@code METHOD /target}, in the order in which they came. */
    final List<String> asked = new CopyOnWriteArrayList<>();

    /** What stands in the server's texts, and what its clients see in place of it. */
    final Map<String, String> seen = new LinkedHashMap<>();

    /** Is called with each request before the server gets it. */
    volatile Consumer<String> before = request -> {};

    private final String server;
    private final HttpServer listener;

    private final HttpClient client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    Relay(String server) throws IOException {
      this.server = server;
      this.listener =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      listener.createContext("/", this::pass);
      listener.setExecutor(threads);
      listener.start();
    }

    String url() {
      return "http://127.0.0.1:" + listener.getAddress().getPort();
    }

    private void pass(HttpExchange exchange) throws IOException {
      try (exchange) {
        String request = exchange.getRequestMethod() + ' ' + exchange.getRequestURI();
        asked.add(request);
        byte[] body = exchange.getRequestBody().readAllBytes();
        before.accept(request);
        HttpRequest.Builder passed =
            HttpRequest.newBuilder(URI.create(server + inner(exchange.getRequestURI().toString())))
                .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(inner(body)));
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        passed.header("Content-Type", type == null ? "application/json" : type);
        HttpResponse<byte[]> answer = client.send(passed.build(), BodyHandlers.ofByteArray());
        answer
            .headers()
            .firstValue("Content-Type")
            .ifPresent(it -> exchange.getResponseHeaders().set("Content-Type", it));
        byte[] told = outer(answer.body());
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(answer.statusCode(), isHead ? -1 : told.length);
        if (!isHead) {
          exchange.getResponseBody().write(told);
        }
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
      }
    }

    private String inner(String text) {
      String result = text;
      for (Map.Entry<String, String> each : seen.entrySet()) {
        result = result.replace(each.getValue(), each.getKey());
      }
      return result;
    }

    private byte[] inner(byte[] text) {
      return inner(new String(text, StandardCharsets.ISO_8859_1))
          .getBytes(StandardCharsets.ISO_8859_1);
    }

    private byte[] outer(byte[] text) {
      String result = new String(text, StandardCharsets.ISO_8859_1);
      for (Map.Entry<String, String> each : seen.entrySet()) {
        result = result.replace(each.getKey(), each.getValue());
      }
      return result.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() {
      listener.stop(0);
      threads.shutdownNow();
    }
  }

  private int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Lectus.run(args, environment, new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private int load(String... more) {
    return run(
        Stream.concat(Stream.of("import", there.url(), "--url", here.url()), Stream.of(more))
            .toArray(String[]::new));
  }

  private int compare(String... databases) {
    return run(
        Stream.concat(
                Stream.of("compare", "--url", here.url(), "--with", there.url()),
                Stream.of(databases))
            .toArray(String[]::new));
  }

  private static String basic(String both) {
    return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void all_databases_come_with_what_belongs_to_them() {
    there.put("/a%2Fb");
    there.write("/a%2Fb/x", "{\"n\":1}");
    there.write("/a%2Fb/_local/mine", "{\"l\":1}");
    there.put("/a%2Fb/_security", "{\"members\":{\"roles\":[\"team\"]}}");
    there.put("/a%2Fb/_revs_limit", "7");
    there.put("/parts?partitioned=true");
    there.write("/parts/one:x", "{}");
    there.put("/empty");
    there.put("/_users");
    there.write(
        "/_users/org.couchdb.user:bob",
        json("{'name':'bob','type':'user','roles':['team'],'password':'apple'}"));
    there.put("/_replicator");

    assertThat(load()).as("%s%s", out, err).isZero();

    assertThat(out.toString().lines().map(it -> it.split(" ")[0]))
        .containsExactly("DATABASE", "_users", "a/b", "empty", "parts");
    assertThat(here.get("/a%2Fb/_security").body()).contains("\"team\"");
    here.get("/a%2Fb/_revs_limit").expect("7\n");
    here.get("/a%2Fb/_local/mine").expect(404);
    assertThat(here.get("/parts").body()).contains("\"partitioned\":true");
    here.get("/_replicator").expect(404);
    assertThat(
            here.request("GET", "/_session", "Authorization", basic("bob:apple"))
                .send()
                .member("name"))
        .isEqualTo("bob");
    assertThat(compare("_users", "a/b", "empty", "parts")).as("%s%s", out, err).isZero();

    // And again, with what has changed.
    there.write("/a%2Fb/y", "{}");
    assertThat(load("a/b", "--local", "--at-once", "1")).isZero();
    here.get("/a%2Fb/y").expect(200);
    String local = here.get("/a%2Fb/_local/mine").body();
    assertThat(local).contains("\"l\":1");
    assertThat(load("a/b", "--local")).isZero();
    here.get("/a%2Fb/_local/mine").expect(local);
  }

  @Test
  void what_could_not_come_and_what_will_not_run_is_told() {
    there.put("/w");
    there.write("/w/good", "{}");
    there.write("/w/large", "{\"x\":\"" + "x".repeat(LARGEST) + "\"}");
    there.write("/w/_design/d", json("{'lists':{'l':'function(){}'},'shows':{},'rewrites':[]}"));
    there.write("/w/_design/e", "{\"language\":\"erlang\",\"views\":{}}");

    assertThat(load("w", "missing")).isOne();

    assertThat(out.toString())
        .containsPattern("w +3 +3 +1\n")
        .containsPattern("missing +0 +0  not complete\n")
        .containsPattern("w: large was refused: .*document_too_large: .* 10000.\n")
        .contains("w: _design/d: _list does not run in Lectus\n")
        .contains("w: _design/d: _rewrite does not run in Lectus\n")
        .contains("w: _design/e: functions in erlang do not run in Lectus\n")
        .contains("missing: the server answered 404");
    assertThat(compare("w")).isOne();
    assertThat(out.toString()).contains("w: large 1-").contains("is missing in " + here.url());

    there.write("/w/more", "{}");
    assertThat(load("w")).isOne();
    assertThat(out.toString())
        .containsPattern("w +4 +1 +1\n")
        .contains("w: 1 more were refused")
        .doesNotContain("large was");
    assertThat(load("w", "--anew")).isOne();
    assertThat(out.toString())
        .containsPattern("w +4 +0 +1\n")
        .contains("w: large was refused")
        .doesNotContain("more were");
  }

  @Test
  void names_and_passwords_come_from_urls_or_the_environment() {
    there.put("/_node/_local/_config/admins/ann", "\"secret word\"");
    there.request("PUT", "/w", "Authorization", basic("ann:secret word")).send();
    environment.put("COUCHDB_SOURCE_USER", "ann");
    environment.put("COUCHDB_SOURCE_PASSWORD", "secret word");
    assertThat(load("w")).as("%s%s", out, err).isZero();
    assertThat(compare("w")).as("%s%s", out, err).isZero();

    environment.clear();
    assertThat(load("w")).isOne();
    String wrong = there.url().replace("//", "//ann:wr%6Fng@");
    assertThat(run("import", wrong, "--url", here.url())).isOne();
    assertThat(err.toString()).hasLineCount(1).doesNotContain("wr%6Fng", "wrong");
    assertThat(run("compare", "w", "--url", here.url(), "--with", wrong + "/w")).isEqualTo(2);
    assertThat(err.toString()).hasLineCount(1).doesNotContain("wr%6Fng", "wrong");
  }

  @Test
  void a_stopped_store_is_filled_and_compared_without_a_password(@TempDir Path folder) {
    Path data = folder.resolve("data");
    there.put("/w");
    there.write("/w/a", "{\"n\":1}");
    try (Store stopped = EmbeddedStores.open(data)) {
      new Admins(stopped).put("root", Admins.hashOf("secret", 10));
      assertThat(run("import", there.url(), "--data", data.toString())).isOne();
      assertThat(err.toString()).contains("already open in this process").hasLineCount(1);
    }
    environment.put("LECTUS_TLS_CERTIFICATE", "/none");
    environment.put("LECTUS_HTTP_HOSTS", "db.example");
    environment.put("LECTUS_CLUSTER", "true");
    assertThat(run("import", there.url(), "w", "--data", data.toString()))
        .as("%s%s", out, err)
        .isZero();
    assertThat(run("compare", "w", "--data", data.toString(), "--with", there.url())).isZero();
    assertThat(run("check", "--data", data.toString())).isZero();
    assertThat(run("import", there.url(), "--data", folder.resolve("no").toString())).isOne();
    assertThat(err.toString()).contains("holds no Lectus store").hasLineCount(1);
    assertThat(folder.resolve("no")).doesNotExist();
  }

  @Test
  void a_database_says_who_may_read_before_its_first_document_comes() throws IOException {
    there.put("/w");
    there.write("/w/a", "{}");
    there.put("/w/_security", "{\"members\":{\"roles\":[\"team\"]}}");
    there.put("/w/_revs_limit", "7");
    String documents = "POST /w/_bulk_docs?known_revisions=true";
    try (Relay relay = new Relay(here.url())) {
      assertThat(run("import", there.url(), "w", "--url", relay.url()))
          .as("%s%s", out, err)
          .isZero();
      assertThat(relay.asked)
          .containsSubsequence("PUT /w", "PUT /w/_security", "PUT /w/_revs_limit", documents);
      assertThat(relay.asked.indexOf(documents))
          .isEqualTo(relay.asked.lastIndexOf(documents))
          .isGreaterThan(relay.asked.indexOf("PUT /w/_revs_limit"));
    }
  }

  @Test
  void a_database_that_fails_ends_no_other_one_and_says_of_what() throws IOException {
    for (String database : List.of("a", "b", "c")) {
      there.put("/" + database);
      there.write("/" + database + "/_local/mine", "{}");
      there.write("/" + database + "/_design/d", "{\"language\":\"kind of " + database + "\"}");
    }
    try (Relay relay = new Relay(there.url())) {
      relay.seen.put("\"kind of a\"", "1e999999999999");
      relay.seen.put("/b/nothing", "/b/_changes");
      assertThat(run("import", relay.url(), "--local", "--url", here.url())).isOne();
    }
    assertThat(out.toString())
        .containsPattern("a +0 +0 +1")
        .containsPattern("b +\\d* +0 +0  not complete\n")
        .containsPattern("c +1 +1 +0\n")
        .contains("a: _design/d was refused: ");
  }

  /** The limits of ids, paths and numbers are the same here, so another source is needed. */
  @Test
  void each_document_beyond_a_limit_is_named_and_all_others_come() throws IOException {
    there.put("/w");
    for (int i = 0; i < 30; i++) {
      there.write("/w/good" + i, "{}");
    }
    there.write("/w/id:", "{}");
    there.write("/w/path", "{\"x\":{\"deep\":1}}");
    there.write("/w/number", "{\"n\":[\"number\"]}");
    there.write("/w/many", "{\"n\":\"digits\"}");
    there.write("/w/large", "{\"x\":\"" + "x".repeat(LARGEST) + "\"}");
    String id = "id:" + "i".repeat(600);
    try (Relay relay = new Relay(there.url())) {
      relay.seen.put("id:", id);
      relay.seen.put("deep", "d".repeat(10_000));
      relay.seen.put("[\"number\"]", "[-1.5e309]");
      relay.seen.put("\"digits\"", "1" + "0".repeat(700));
      assertThat(run("import", relay.url(), "w", "--url", here.url())).isOne();
    }
    assertThat(out.toString())
        .containsPattern("w +30 +30 +5\n")
        .contains("w: " + id + " was refused: forbidden, illegal_docid: Document id is too long\n")
        .containsPattern("w: path was refused: forbidden, document_too_large: The path x\\.d+")
        .containsPattern(
            "w: number was refused: forbidden, bad_request: .*out of the range of a double")
        .containsPattern(
            "w: many was refused: forbidden, bad_request: .*integer of more than 255 bytes")
        .containsPattern("w: large was refused: forbidden, document_too_large: .* 10000");
  }

  @Test
  void a_hundred_refusals_of_a_database_are_named_and_the_others_counted() {
    there.put("/w");
    String large = ",\"x\":\"" + "x".repeat(LARGEST) + "\"}";
    there.post(
        "/w/_bulk_docs",
        IntStream.range(0, 101)
            .mapToObj(i -> "{\"_id\":\"d" + i + "\"" + large)
            .collect(Collectors.joining(",", "{\"docs\":[", "]}")));
    assertThat(load("w")).isOne();
    assertThat(out.toString()).containsPattern("w +0 +0 +101\n").contains("w: 1 more were refused");
    assertThat(out.toString().lines().filter(it -> it.contains(" was refused: "))).hasSize(100);
  }

  /** Kills come before a request has reached the server, and after it. */
  @Test
  void an_import_that_is_killed_goes_on(@TempDir Path folder) throws Exception {
    there.put("/w");
    there.put("/w/_security", "{\"members\":{\"roles\":[\"team\"]}}");
    for (int from = 0; from < 1_500; from += 500) {
      there.post(
          "/w/_bulk_docs",
          IntStream.range(from, from + 500)
              .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
              .collect(Collectors.joining(",", "{\"docs\":[", "]}")));
    }
    there.write("/w/_local/mine", "{}");
    Random random = new Random(SEED);
    try (Relay relay = new Relay(here.url())) {
      for (int kill = 0; kill < KILLS; kill++) {
        CompletableFuture<Process> started = new CompletableFuture<>();
        AtomicInteger left = new AtomicInteger(1 + random.nextInt(12));
        relay.before =
            request -> {
              if (left.decrementAndGet() <= 0) {
                started.join().destroyForcibly().onExit().join();
              }
            };
        List<String> command = TestJava.command(128);
        command.addAll(List.of("lectus.Lectus", "import", there.url(), "w", "--local"));
        command.addAll(List.of("--url", relay.url()));
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        started.complete(process);
        boolean isKilled = process.waitFor() != 0;
        assertThat(isKilled || kill > 0).as(Files.readString(folder.resolve("log"))).isTrue();
        if (!isKilled) {
          here.delete("/w");
        }
      }
    }
    assertThat(load("w", "--local")).as("%s%s", out, err).isZero();
    assertThat(run("compare", "w", "--local", "--url", here.url(), "--with", there.url()))
        .as("%s%s", out, err)
        .isZero();
  }

  @Test
  void each_of_what_belongs_to_a_database_is_compared() {
    for (LectusServer each : List.of(here, there)) {
      each.put("/w");
      each.write("/w/_local/same", "{\"n\":1,\"m\":{\"o\":[]}}");
      each.write("/w/_local/both", "{\"x\":{\"y\":\"" + each.port() + "\"}}");
      each.write("/w/_local/of" + each.port(), "{}");
      each.put("/w/_revs_limit", each == here ? "5" : "6");
      each.put("/w/_security", "{\"members\":{\"names\":[\"of " + each.port() + "\"]}}");
      each.write("/w/deep", "{\"a\":" + "[".repeat(600) + "]".repeat(600) + "}");
      each.post(
          "/w/_bulk_docs",
          json("{'new_edits':false,'docs':[{'_id':'d','_rev':'2-b','n':1.0,'_revisions':{'start':2,'ids':['b','a']},'_attachments':{'f':{'data':'YQ==','revpos':%s}}}]}")
              .formatted((each == here ? 1 : 2)));
    }
    // A revision of its own, because it was written twice.
    there.write("/w/_local/same", "{\"_rev\":\"0-1\",\"m\":{\"o\":[]},\"n\":1.0}");
    there.write("/w/_local/checkpoint", "{\"session_id\":\"s\",\"history\":[]}");

    String deep = here.head("/w/deep").header("etag").replace("\"1-", "").replace("\"", "");
    assertThat(compare("w")).isOne();
    assertThat(out.toString().lines())
        .containsExactlyInAnyOrder(
            "w: _security differs",
            "w: _revs_limit differs",
            "w: d 2-b: the attachment f differs",
            "w: deep 1-%s: cannot be compared as it is in %s/w/".formatted(deep, here.url()),
            "w: 2 leaves, different");
    assertThat(compare("w", "--local")).isOne();
    assertThat(out.toString().lines())
        .hasSize(8)
        .contains(
            "w: _local/both: x.y differs",
            "w: _local/of" + here.port() + ": is missing in " + there.url() + "/w",
            "w: _local/of" + there.port() + ": is missing in " + here.url() + "/w");
  }

  @Test
  void a_stopped_store_has_the_limits_of_its_configuration_file(@TempDir Path folder)
      throws IOException {
    Path data = folder.resolve("data");
    EmbeddedStores.open(data).close();
    there.put("/w");
    there.write("/w/a", "{\"x\":\"" + "x".repeat(5_000) + "\"}");
    Path file = folder.resolve("lectus.conf");
    Files.writeString(file, "documents.max-bytes = 5000\nport = 1\ntls.certificate = /none\n");
    String[] command = {"import", there.url(), "w", "--data", data.toString()};

    assertThat(run(with(command, "--config", file.toString()))).isOne();
    assertThat(out.toString()).contains("w: a was refused: forbidden, document_too_large");
    environment.put("LECTUS_CONFIG", file.toString());
    assertThat(run(with(command, "--anew"))).isOne();
    environment.clear();
    assertThat(run(with(command, "--anew"))).as("%s%s", out, err).isZero();
    assertThat(run(with(command, "--config", folder.resolve("none").toString()))).isOne();
    assertThat(err.toString()).contains("cannot be read").hasLineCount(1);
  }

  private static String[] with(String[] some, String... more) {
    return Stream.concat(Stream.of(some), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void a_mistake_is_one_sentence() {
    there.put("/w");
    here.put("/nothing");
    assertThat(compare("w", "nothing")).isEqualTo(2);
    assertThat(err.toString().lines())
        .satisfiesExactly(
            it ->
                assertThat(it)
                    .contains(
                        "w could not be compared: there is no database " + here.url() + "/w."),
            it ->
                assertThat(it)
                    .contains(
                        "nothing could not be compared: there is no database "
                            + there.url()
                            + "/nothing."));
    for (List<String> nameless :
        List.of(
            List.of("import", there.url(), ""),
            List.of("compare", "w", "", "--with", there.url()),
            List.of("relocate", "", "--to", there.url()))) {
      assertThat(run(with(nameless.toArray(String[]::new), "--url", here.url()))).isNotZero();
      assertThat(err.toString()).hasLineCount(1).contains("The name of a database is missing");
    }
    assertThat(run("compare", "a", "b", "--url", here.url(), "--with", there.url() + "/a"))
        .isEqualTo(2);
    assertThat(err.toString()).hasLineCount(1);
    assertThat(run("compare", "a", "--url", here.url())).isEqualTo(2);
    assertThat(run("import", "ftp://x", "--url", here.url())).isEqualTo(1);
    assertThat(err.toString()).hasLineCount(1);
    assertThat(run("import", "http://127.0.0.1:1", "--url", here.url())).isEqualTo(1);
    assertThat(err.toString()).hasLineCount(1).contains("no server answers at http://127.0.0.1:1");
    assertThat(load("w", "--at-once", "0")).isEqualTo(1);
  }
}
