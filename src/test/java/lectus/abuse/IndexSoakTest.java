package lectus.abuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.document.write.SweepMetrics;
import lectus.document.write.TombstoneSweep;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.EmbeddedStores;
import lectus.store.LeasedRounds;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import lectus.view.FreshBuild;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writers write, delete, purge and make conflicts; indexes, stored feeds and views come, change and
 * go; changes are resharded, old tombstones are swept, and the server and its children are killed
 * while all of these are built. At the end every index finds what a scan finds, each feed shows
 * what its selector shows, each view has what its map makes of the documents and equals a fresh
 * build, and the auditor compares all with their documents.
 *
 * <p>Longer: {@code -Dlectus.soak.kills=50}; the same again: {@code -Dlectus.soak.seed=…}.
 */
@Timeout(3_600)
class IndexSoakTest {
  private static final int KILLS = Integer.getInteger("lectus.soak.kills", 2);
  private static final long SEED = Long.getLong("lectus.soak.seed", System.nanoTime());
  private static final int HEAP_MEGABYTES = 128;
  private static final int WRITERS = 2;
  private static final int DOCUMENTS = 1_500;
  private static final int BATCH = 100;
  private static final int CHANGES_BEFORE_KILL = 8;
  private static final int BATCHES_BETWEEN_CHANGES = 2;
  private static final int BATCHES_AT_THE_END = 10;
  private static final List<String> FIELDS = List.of("a", "b", "c");
  private static final String SELECTOR = "{\"selector\":{\"a\":{\"$gte\":2}}}";
  private static final Map<String, String> FEEDS =
      Map.of("selected", SELECTOR, "channels", "{\"channels\":\"b\"}");

  /** Each view in two forms, and which members of a document make a row of each. */
  private static final List<List<SoakedView>> VIEWS =
      List.of(
          List.of(
              new SoakedView("v", emit("a", "doc.v%7"), "_sum", doc -> doc.row("a", doc.rest())),
              new SoakedView("v", emit("b", "1"), "_count", doc -> doc.row("b", 1))),
          List.of(
              new SoakedView(
                  "w",
                  emit("c", "doc.v%7"),
                  "function(k,v,r){return r?sum(v):v.length}",
                  doc -> doc.row("c", doc.rest())),
              new SoakedView(
                  "w",
                  "if(doc._conflicts)emit(doc._conflicts.length,1)",
                  "_stats",
                  SoakedDocument::conflictRow)));

  private static final Pattern ID = Pattern.compile("\"_id\":\"([^\"]*)\"");
  private static final Pattern REV = Pattern.compile("\"_rev\":\"([^\"]*)\"");
  private static final Pattern REVISION =
      Pattern.compile("\"id\":\"([^\"]*)\",\"key\":\"[^\"]*\",\"value\":\\{\"rev\":\"([^\"]*)\"");

  /** In the order in which views sort them. */
  private static final List<String> VALUES =
      List.of("null", "1", "2.5", "\"x\"", "\"y\"", "[1]", "{}");

  /** A document as {@code _all_docs} shows it. */
  private record SoakedDocument(String id, String json) {
    Optional<String> member(String name) {
      return Pattern.compile("\"" + name + "\":(\"[^\"]*\"|\\[[^\\]]*\\]|\\{\\}|[^,}]*)")
          .matcher(json)
          .results()
          .findFirst()
          .map(it -> it.group(1));
    }

    int rest() {
      return Integer.parseInt(member("v").orElseThrow()) % 7;
    }

    Optional<SoakedRow> row(String name, int value) {
      return member(name).map(key -> new SoakedRow(id, key, value));
    }

    Optional<SoakedRow> conflictRow() {
      return member("_conflicts").map(it -> new SoakedRow(id, "" + it.split(",", -1).length, 1));
    }
  }

  private record SoakedRow(String id, String key, int value) {
    String json() {
      return "{\"id\":\"" + id + "\",\"key\":" + key + ",\"value\":" + value + "}";
    }

    int rank() {
      int rank = VALUES.indexOf(key);
      return rank < 0 ? Integer.parseInt(key) : rank;
    }
  }

  /**
   * A view of a design document of its own, with options that both of its forms share.
   *
   * @param rows what the map makes of a document
   */
  private record SoakedView(
      String name, String map, String reduce, Function<SoakedDocument, Optional<SoakedRow>> rows) {
    String design() {
      return "{\"views\":{\"v\":{\"map\":\"function(doc){"
          + map
          + "}\",\"reduce\":\""
          + reduce
          + "\"}}}";
    }
  }

  private static String emit(String member, String value) {
    return "if(doc." + member + "!==undefined)emit(doc." + member + "," + value + ")";
  }

  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger written = new AtomicInteger();

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
  }

  @Test
  void every_index_is_whole_after_kills(@TempDir Path folder) throws Exception {
    Random random = new Random(SEED);
    for (int kill = 0; kill < KILLS; kill++) {
      try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
        if (kill == 0) {
          load(server);
        }
        disturbUntilKilled(server, random);
      }
      sweep(folder);
    }
    try (ServerProcess server = ServerProcess.start(folder, HEAP_MEGABYTES)) {
      FIELDS.forEach(field -> answer(server, "POST", "/w/_index", definition(field, field)));
      FEEDS.forEach((name, definition) -> answer(server, "PUT", "/w/_feeds/" + name, definition));
      Await.until(
          "all indexes are built",
          () -> !answer(server, "GET", "/w/_index", "").contains("\"building\""));
      Await.until(
          "all feeds are filled",
          () -> !answer(server, "GET", "/w/_feeds", "").contains("\"filling\""));
      for (int i = 0; i < BATCHES_AT_THE_END; i++) {
        write(server, random);
      }
      assertIndexesFindAll(server);
      assertFeedsShowAll(server);
      for (SoakedView view : VIEWS.stream().flatMap(List::stream).toList()) {
        assertViewShowsAll(server, view);
      }
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder));
        Scripts scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 60, 64 << 20))) {
      SoundStore.assertSound(store);
      TestDatabase database = TestDatabase.open(store, "w");
      VIEWS.stream()
          .flatMap(List::stream)
          .forEach(it -> new FreshBuild(database, scripts, it.design()).assertEqual(true));
    }
  }

  /** Purges all tombstones, while no server runs. */
  private static void sweep(Path folder) {
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      TestDatabase database = TestDatabase.open(store, "w");
      for (int hours = 0; hours < 2; hours++) {
        InstantSource clock = InstantSource.offset(InstantSource.system(), Duration.ofHours(hours));
        TombstoneSweep sweep =
            new TombstoneSweep(
                store,
                database.catalogue,
                database.writer,
                new SweepMetrics(),
                clock,
                LeasedRounds.withoutPause(store, TombstoneSweep.TASK));
        while (sweep.step()) {
          // goes on
        }
        sweep.giveBack();
      }
    }
  }

  private void load(ServerProcess server) {
    answer(server, "PUT", "/w", "");
    answer(server, "PUT", "/w/_auto_purge", "{\"deleted_document_ttl\":\"1_s\"}");
    Random random = new Random(SEED);
    for (int from = 0; from < DOCUMENTS; from += BATCH) {
      List<String> documents = new ArrayList<>();
      for (int i = from; i < from + BATCH; i++) {
        documents.add("{\"_id\":\"d" + i + "\"," + fields(random) + "}");
      }
      bulk(server, documents);
    }
  }

  private static String fields(Random random) {
    List<String> members = new ArrayList<>();
    members.add("\"v\":" + random.nextInt());
    for (String field : FIELDS) {
      if (random.nextInt(5) > 0) {
        members.add("\"" + field + "\":" + VALUES.get(random.nextInt(VALUES.size())));
      }
    }
    return String.join(",", members);
  }

  private void disturbUntilKilled(ServerProcess server, Random random) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      Random own = new Random(random.nextLong());
      threads.add(new Thread(() -> goOn(server, () -> write(server, own))));
    }
    threads.forEach(Thread::start);
    for (int i = 0; i < CHANGES_BEFORE_KILL; i++) {
      int enough = written.get() + BATCHES_BETWEEN_CHANGES;
      Await.until("batches are written", () -> written.get() >= enough);
      change(server, random);
    }
    server.close();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void goOn(ServerProcess server, Runnable work) {
    while (server.isAlive()) {
      try {
        work.run();
      } catch (IllegalStateException killed) {
        return;
      }
    }
  }

  /** Edits and deletes some documents that follow each other, adds one, and purges some. */
  private void write(ServerProcess server, Random random) {
    String first = "d" + random.nextInt(DOCUMENTS);
    String page = answer(server, "GET", "/w/_all_docs?limit=20&start_key=%22" + first + "%22", "");
    List<String> documents = new ArrayList<>();
    REVISION
        .matcher(page)
        .results()
        .filter(row -> row.group(1).startsWith("d"))
        .forEach(
            row ->
                documents.add(
                    "{\"_id\":\""
                        + row.group(1)
                        + "\",\"_rev\":\""
                        + row.group(2)
                        + (random.nextInt(10) == 0
                            ? "\",\"_deleted\":true}"
                            : "\"," + fields(random) + "}")));
    documents.add("{\"_id\":\"d" + random.nextInt(2 * DOCUMENTS) + "n\"," + fields(random) + "}");
    bulk(server, documents);
    List<MatchResult> rows =
        REVISION.matcher(page).results().filter(row -> row.group(1).endsWith("n")).toList();
    if (!rows.isEmpty() && random.nextBoolean()) {
      MatchResult row = rows.get(random.nextInt(rows.size()));
      // Unless it was edited meanwhile.
      answer(server, "POST", "/w/_purge", "{\"" + row.group(1) + "\":[\"" + row.group(2) + "\"]}");
    }
    conflict(server, random);
    written.incrementAndGet();
  }

  private void conflict(ServerProcess server, Random random) {
    String rev = "1-" + String.format("%032x", random.nextInt(1 << 20));
    String id = "d" + random.nextInt(DOCUMENTS);
    answer(
        server,
        "POST",
        "/w/_bulk_docs",
        "{\"new_edits\":false,\"docs\":[{\"_id\":\""
            + id
            + "\",\"_rev\":\""
            + rev
            + "\","
            + fields(random)
            + "}]}");
  }

  private void bulk(ServerProcess server, List<String> documents) {
    answer(server, "POST", "/w/_bulk_docs", "{\"docs\":[" + String.join(",", documents) + "]}");
  }

  private void change(ServerProcess server, Random random) {
    String name = FIELDS.get(random.nextInt(FIELDS.size()));
    String feed = random.nextBoolean() ? "selected" : "channels";
    List<SoakedView> forms = VIEWS.get(random.nextInt(VIEWS.size()));
    SoakedView form = forms.get(random.nextInt(forms.size()));
    switch (random.nextInt(16)) {
      case 0 -> answer(server, "DELETE", "/w/_index/_design/" + name + "/json/" + name, "");
      case 1 ->
          answer(
              server, "PUT", "/w/_changes/_meta", "{\"shards\":" + (1 + random.nextInt(4)) + "}");
      case 2 -> answer(server, "DELETE", "/w/_feeds/" + feed, "");
      case 3, 4 -> answer(server, "PUT", "/w/_feeds/" + feed, FEEDS.get(feed));
      case 5 -> answer(server, "POST", "/w/_index", definition(name, "a\",\"b"));
      case 6, 7, 8, 9 -> define(server, form);
      case 10 -> answer(server, "POST", "/w/_view_cleanup", "");
      case 11 -> answer(server, "GET", "/w/_design/" + form.name + "/_view/v?update=lazy", "");
      case 12, 13 -> server.killChildren();
      default -> answer(server, "POST", "/w/_index", definition(name, name));
    }
  }

  private void define(ServerProcess server, SoakedView view) {
    String path = "/w/_design/" + view.name;
    Matcher rev = REV.matcher(answer(server, "GET", path, ""));
    String design =
        rev.find()
            ? view.design().replaceFirst("\\{", "{\"_rev\":\"" + rev.group(1) + "\",")
            : view.design();
    answer(server, "PUT", path, design);
  }

  private static String definition(String name, String fields) {
    return "{\"index\":{\"fields\":[\""
        + fields
        + "\"]},\"ddoc\":\""
        + name
        + "\",\"name\":\""
        + name
        + "\"}";
  }

  private void assertIndexesFindAll(ServerProcess server) {
    String all =
        answer(
            server,
            "POST",
            "/w/_find",
            "{\"selector\":{},\"use_index\":\"none\",\"limit\":100000}");
    for (String field : FIELDS) {
      String query = "{\"selector\":{\"" + field + "\":{\"$gte\":null}},\"limit\":100000";
      String found =
          answer(
              server,
              "POST",
              "/w/_find",
              query + ",\"use_index\":\"" + field + "\",\"fields\":[\"_id\"]}");
      assertThat(found).doesNotContain("warning");
      List<String> expected = new ArrayList<>();
      for (String document : all.split("\r\n", -1)) {
        if (document.contains("\"" + field + "\":")) {
          ID.matcher(document).results().forEach(id -> expected.add(id.group(1)));
        }
      }
      List<String> ids = ID.matcher(found).results().map(id -> id.group(1)).toList();
      assertThat(ids).as("seed %d", SEED).doesNotHaveDuplicates().isNotEmpty();
      assertThat(new TreeSet<>(ids)).as("seed %d", SEED).isEqualTo(new TreeSet<>(expected));
    }
  }

  private void assertFeedsShowAll(ServerProcess server) {
    String changes = "/w/_changes?filter=";
    assertThat(sequences(answer(server, "GET", changes + "_feed/selected", "")))
        .as("seed %d", SEED)
        .isEqualTo(answer(server, "POST", changes + "_selector", SELECTOR));
    List<String> expected =
        rows(answer(server, "POST", changes + "_selector", "{\"selector\":{\"b\":\"x\"}}"));
    List<String> shown = rows(answer(server, "GET", changes + "_feed/channels&channel=x", ""));
    assertThat(shown).as("seed %d", SEED).isNotEmpty().isEqualTo(expected);
  }

  private void assertViewShowsAll(ServerProcess server, SoakedView view) {
    define(server, view);
    String path = "/w/_design/" + view.name + "/_view/v?reduce=false";
    Await.until("the view is built", () -> send(server, "GET", path, "").statusCode() == 200);
    // A document whose child was killed twice is mapped again after a minute.
    String info = "/w/_design/" + view.name + "/_info";
    Await.until(
        Duration.ofMinutes(5),
        "no document is refused",
        () -> !answer(server, "GET", info, "").contains("refused"));
    List<String> expected =
        answer(server, "GET", "/w/_all_docs?include_docs=true&conflicts=true", "")
            .lines()
            .filter(line -> line.startsWith("{\"id\":\"d"))
            .map(line -> new SoakedDocument(line.substring(7, line.indexOf('"', 7)), line))
            .flatMap(it -> view.rows.apply(it).stream())
            .sorted(Comparator.comparing(SoakedRow::rank).thenComparing(SoakedRow::id))
            .map(SoakedRow::json)
            .toList();
    List<String> shown =
        answer(server, "GET", path, "")
            .lines()
            .filter(line -> line.startsWith("{\"id\""))
            .map(line -> line.replaceAll(",$", ""))
            .toList();
    assertThat(shown).as("seed %d, %s", SEED, view).isNotEmpty().isEqualTo(expected);
  }

  /** A sequence before a feed's removal has another in front: the reader knows of the removal. */
  private static String sequences(String changes) {
    return changes.replaceAll("\"seq\":\"[0-9a-f]+-", "\"seq\":\"");
  }

  /** Returns the changes of documents that are not deleted. */
  private static List<String> rows(String changes) {
    return sequences(changes)
        .lines()
        .filter(line -> line.startsWith("{\"seq\"") && !line.contains("\"deleted\":true"))
        .map(line -> line.replaceAll(",$", ""))
        .toList();
  }

  private String answer(ServerProcess server, String method, String path, String body) {
    HttpResponse<String> answer = send(server, method, path, body);
    assertThat(answer.statusCode()).as("%s %s: %s", method, path, answer.body()).isLessThan(500);
    return answer.body();
  }

  /**
   * @throws IllegalStateException if the server is gone
   */
  private HttpResponse<String> send(ServerProcess server, String method, String path, String body) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
              .header("Content-Type", "application/json")
              .method(
                  method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
              .build();
      return client.send(request, BodyHandlers.ofString());
    } catch (IOException | InterruptedException gone) {
      throw new IllegalStateException(gone);
    }
  }
}
