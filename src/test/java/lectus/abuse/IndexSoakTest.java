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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writers write and delete, indexes come and go, changes are resharded, and the server is killed
 * while indexes are built; so are stored feeds. At the end every index finds what a scan finds,
 * each feed shows what its selector shows, and the auditor compares all with their documents.
 *
 * <p>Longer: {@code -Dlectus.soak.kills=50}; the same again: {@code -Dlectus.soak.seed=…}.
 */
@Timeout(3_600)
class IndexSoakTest {
  private static final int KILLS = Integer.getInteger("lectus.soak.kills", 2);
  private static final long SEED = Long.getLong("lectus.soak.seed", System.nanoTime());
  private static final int HEAP_MEGABYTES = 128;
  private static final int WRITERS = 2;
  private static final int DOCUMENTS = 3_000;
  private static final int BATCH = 100;
  private static final int CHANGES_BEFORE_KILL = 8;
  private static final int BATCHES_BETWEEN_CHANGES = 2;
  private static final int BATCHES_AT_THE_END = 20;
  private static final List<String> FIELDS = List.of("a", "b", "c");
  private static final String SELECTOR = "{\"selector\":{\"a\":{\"$gte\":2}}}";
  private static final Map<String, String> FEEDS =
      Map.of("selected", SELECTOR, "channels", "{\"channels\":\"b\"}");
  private static final Pattern ID = Pattern.compile("\"_id\":\"([^\"]*)\"");
  private static final Pattern REVISION =
      Pattern.compile("\"id\":\"([^\"]*)\",\"key\":\"[^\"]*\",\"value\":\\{\"rev\":\"([^\"]*)\"");

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
    }
    try (Store store = EmbeddedStores.open(ServerProcess.data(folder))) {
      SoundStore.assertSound(store);
    }
  }

  private void load(ServerProcess server) {
    answer(server, "PUT", "/w", "");
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
    List<String> values = List.of("1", "2.5", "\"x\"", "\"y\"", "[1]", "{}", "null");
    List<String> members = new ArrayList<>();
    members.add("\"v\":" + random.nextInt());
    for (String field : FIELDS) {
      if (random.nextInt(5) > 0) {
        members.add("\"" + field + "\":" + values.get(random.nextInt(values.size())));
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

  /** Edits and deletes some documents that follow each other, and adds one. */
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
    written.incrementAndGet();
  }

  private void bulk(ServerProcess server, List<String> documents) {
    answer(server, "POST", "/w/_bulk_docs", "{\"docs\":[" + String.join(",", documents) + "]}");
  }

  private void change(ServerProcess server, Random random) {
    String name = FIELDS.get(random.nextInt(FIELDS.size()));
    String feed = random.nextBoolean() ? "selected" : "channels";
    switch (random.nextInt(9)) {
      case 0 -> answer(server, "DELETE", "/w/_index/_design/" + name + "/json/" + name, "");
      case 1 ->
          answer(
              server, "PUT", "/w/_changes/_meta", "{\"shards\":" + (1 + random.nextInt(4)) + "}");
      case 2 -> answer(server, "DELETE", "/w/_feeds/" + feed, "");
      case 3, 4 -> answer(server, "PUT", "/w/_feeds/" + feed, FEEDS.get(feed));
      case 5 -> answer(server, "POST", "/w/_index", definition(name, "a\",\"b"));
      default -> answer(server, "POST", "/w/_index", definition(name, name));
    }
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

  /**
   * @throws IllegalStateException if the server is gone
   */
  private String answer(ServerProcess server, String method, String path, String body) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
              .header("Content-Type", "application/json")
              .method(
                  method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
      assertThat(answer.statusCode()).as("%s %s: %s", method, path, answer.body()).isLessThan(500);
      return answer.body();
    } catch (IOException | InterruptedException gone) {
      throw new IllegalStateException(gone);
    }
  }
}
