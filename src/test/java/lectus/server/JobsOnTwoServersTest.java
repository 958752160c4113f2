package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Request;
import lectus.server.testing.ClusterFile;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers in processes of their own share the tasks of jobs on one FoundationDB cluster, and one of
 * them is killed.
 */
final class JobsOnTwoServersTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int DOCUMENTS = 12_000;
  private static final int IN_A_REQUEST = 1_000;
  private static final int VALUES = 50;
  private static final int CHANNELS = 10;

  /** Their edits move them to another value and another channel. */
  private static final int EDITED = 20;

  @TempDir Path folder;

  @BeforeAll
  static void onlyCluster() {
    TestStores.onlyCluster();
  }

  @Test
  void a_job_goes_on_when_one_of_its_servers_is_killed_and_all_servers_answer_alike() {
    Path cluster = ClusterFile.write(folder);
    Store store = stores.fresh();
    try (MemberProcess killed = MemberProcess.start(cluster, store);
        MemberProcess stays = MemberProcess.start(cluster, store)) {
      write(killed);
      define(killed);
      Await.until(
          "both work on tasks, or are done",
          () -> (hasTasks(killed) && hasTasks(stays)) || isDone(stays));
      killed.kill();
      edit(stays);
      Await.until("the index is built and the feed is filled", () -> isDone(stays));
      try (MemberProcess later = MemberProcess.start(cluster, store)) {
        assertAnswers(stays);
        assertAnswers(later);
        assertThat(found(later)).isEqualTo(found(stays));
        assertThat(rows(later)).isEqualTo(rows(stays));
      }
    }
  }

  private static void write(MemberProcess server) {
    server.put("/w?changes_shards=4", "").expect(201);
    for (int from = 0; from < DOCUMENTS; from += IN_A_REQUEST) {
      String documents =
          IntStream.range(from, from + IN_A_REQUEST)
              .mapToObj(i -> "{\"_id\":\"d" + i + "\"," + content(i) + "}")
              .collect(Collectors.joining(","));
      post(server, "/w/_bulk_docs", "{\"docs\":[" + documents + "]}").expect(201);
    }
  }

  private static String content(int i) {
    return "\"a\":" + i % VALUES + ",\"ch\":\"c" + i % CHANNELS + "\"";
  }

  private static void define(MemberProcess server) {
    post(server, "/w/_index", "{\"index\":{\"fields\":[\"a\"]},\"ddoc\":\"i\"}").expect(200);
    server.put("/w/_feeds/f", "{\"channels\":\"ch\"}").expect(201);
  }

  /** The first documents have the value and the channel of the second one now. */
  private static void edit(MemberProcess server) {
    for (int i = 0; i < EDITED; i++) {
      String rev = server.get("/w/d" + i).member("_rev");
      String json = "{\"_rev\":\"" + rev + "\"," + content(1) + "}";
      server.put("/w/d" + i, json).expect(201);
    }
  }

  private static boolean hasTasks(MemberProcess server) {
    return server.get("/_active_tasks").body().contains("\"indexer\"");
  }

  private static boolean isDone(MemberProcess server) {
    return !server.get("/w/_index").body().contains("\"building\"")
        && server.get("/w/_feeds/f").member("state").equals("ready");
  }

  private static void assertAnswers(MemberProcess server) {
    // Of the edited ones, each number modulo 50 had one, and number 1 had the value already.
    assertThat(found(server)).hasSize(DOCUMENTS / VALUES + EDITED - 1).doesNotHaveDuplicates();
    int before = EDITED / CHANNELS;
    assertThat(rows(server))
        .hasSize(DOCUMENTS / CHANNELS + EDITED - before)
        .doesNotHaveDuplicates();
  }

  private static List<String> found(MemberProcess server) {
    Answer answer =
        post(
            server,
            "/w/_find",
            "{\"selector\":{\"a\":1},\"fields\":[\"_id\"],\"limit\":10000,\"use_index\":\"i\"}");
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.body()).doesNotContain("warning");
    return answer
        .body()
        .lines()
        .filter(it -> it.contains("\"_id\""))
        .map(JobsOnTwoServersTest::row)
        .sorted()
        .toList();
  }

  private static List<String> rows(MemberProcess server) {
    Answer answer = server.get("/w/_changes?filter=_feed/f&channel=c1");
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return answer
        .body()
        .lines()
        .filter(it -> it.startsWith("{\"seq\""))
        .map(JobsOnTwoServersTest::row)
        .toList();
  }

  /** Without the comma between rows. */
  private static String row(String line) {
    return line.endsWith(",") ? line.substring(0, line.length() - 1) : line;
  }

  private static Answer post(MemberProcess server, String target, String json) {
    return new Request(server.port(), "POST", target).json(json).send();
  }
}
