package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Request;
import lectus.server.testing.ClusterFile;
import lectus.store.FrozenStore;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Replications of documents, which the members of a cluster share. */
final class ReplicationsOnTwoServersTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int JOBS = 16;

  /** So many that a server is frozen before it has copied them one by one. */
  private static final int DOCUMENTS = 100;

  /** Within this time the replications of a server that was killed go on elsewhere. */
  private static final Duration TAKEN_OVER = Duration.ofSeconds(10);

  private static final Pattern NODE = Pattern.compile("\"node\":\"([^\"]*)\"");
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");

  private static final Pattern JOB =
      Pattern.compile("\"doc_id\":\"r([0-9]+)\".*?\"node\":\"([^\"]*)\"");

  private static final Pattern REVISION =
      Pattern.compile("\"id\":\"([^\"]*)\",\"changes\":\\[\\{\"rev\":\"([^\"]*)\"");

  @TempDir private Path folder;

  private final Store store = stores.fresh();

  /** A server in this process or in another one. */
  private record Server(int port) {
    Answer ask(String method, String target, String json) {
      Answer answer = new Request(port, method, target).json(json).send();
      assertThat(answer.status() / 100).as("%s %s: %s", method, target, answer).isEqualTo(2);
      return answer;
    }

    String get(String target) {
      return new Request(port, "GET", target).send().body();
    }

    boolean has(String target) {
      return new Request(port, "GET", target).send().status() == 200;
    }

    String node() {
      return new Request(port, "GET", "/_node/_local").send().member("name");
    }

    /** Returns the number behind a name; -1 if the server is busy. */
    int number(String target, String member) {
      Matcher found = Pattern.compile('"' + member + "\":([0-9]+)").matcher(get(target));
      return found.find() ? Integer.parseInt(found.group(1)) : -1;
    }

    /** Returns how many replications this server has itself. */
    int ownJobs() {
      return number("/_node/_local/_stats/couch_replicator/jobs/total", "value");
    }
  }

  private static Server of(Member member) {
    return new Server(member.server().port());
  }

  private static Server of(MemberProcess process) {
    return new Server(process.port());
  }

  /**
   * @param more members of each description, each behind a comma
   */
  private static void describe(Server server, String more) {
    server.ask("PUT", "/_replicator", "");
    for (int i = 0; i < JOBS; i++) {
      server.ask("PUT", "/a" + i, "");
      server.ask("PUT", "/b" + i, "");
      server.ask(
          "PUT",
          "/_replicator/r" + i,
          "{\"source\":\"a%d\",\"target\":\"b%d\",\"continuous\":true%s}".formatted(i, i, more));
    }
  }

  private static List<String> found(Server server, Pattern what) {
    return what.matcher(server.get("/_scheduler/jobs"))
        .results()
        .map(match -> match.group(1))
        .toList();
  }

  /** Returns the numbers of a member's replications. */
  private static List<Integer> jobsOf(String node, Server asked) {
    return JOB.matcher(asked.get("/_scheduler/jobs"))
        .results()
        .filter(match -> match.group(2).equals(node))
        .map(match -> Integer.valueOf(match.group(1)))
        .toList();
  }

  private static void awaitCopies(Server server, String id) {
    for (int i = 0; i < JOBS; i++) {
      server.ask("PUT", "/a" + i + "/" + id, "{}");
    }
    for (int i = 0; i < JOBS; i++) {
      String copy = "/b" + i + "/" + id;
      Await.until(copy + " has come", () -> server.has(copy));
    }
  }

  private static void awaitShared(Server server) {
    Await.until(
        "both have some of them",
        () -> found(server, ID).size() == JOBS && new HashSet<>(found(server, NODE)).size() == 2);
  }

  private static void awaitAllAt(Server server) {
    Set<String> left = Set.of(server.node());
    Await.until(
        "all are at the one that is left",
        () -> found(server, ID).size() == JOBS && Set.copyOf(found(server, NODE)).equals(left));
  }

  @Test
  void each_replication_has_one_of_the_members_and_another_one_when_that_leaves() {
    Path file = ClusterFile.write(folder);
    try (Member first = new Member(file, store, ClusterTest.HOURLY)) {
      Server stays = of(first);
      describe(stays, "");
      awaitCopies(stays, "alone");
      try (Member second = new Member(file, store, ClusterTest.HOURLY)) {
        Server leaves = of(second);
        awaitShared(stays);
        assertThat(found(leaves, ID)).isEqualTo(found(stays, ID)).doesNotHaveDuplicates();
        assertThat(leaves.get("/_scheduler/docs?states=running").split("doc_id")).hasSize(JOBS + 1);
        awaitCopies(leaves, "shared");
      }
      awaitAllAt(stays);
      awaitCopies(stays, "alone-again");
    }
  }

  @Test
  void what_a_server_had_that_is_cut_off_runs_elsewhere() {
    Path file = ClusterFile.write(folder);
    FrozenStore frozen = new FrozenStore(store, true);
    try (Member first = new Member(file, store, ClusterTest.HOURLY);
        Member lost = new Member(file, frozen.store(), ClusterTest.HOURLY)) {
      Server stays = of(first);
      describe(stays, "");
      awaitShared(stays);
      awaitCopies(stays, "shared");
      try {
        frozen.freeze();
        lost.cutOff();
        awaitAllAt(stays);
        awaitCopies(stays, "alone");
      } finally {
        frozen.thaw();
      }
      // Whatever it had begun is not stored, or was stored by the other one already.
      awaitCopies(stays, "back");
    }
  }

  @Test
  void what_a_process_had_that_is_killed_goes_on_elsewhere_within_ten_seconds() {
    TestStores.onlyCluster();
    Path file = ClusterFile.write(folder);
    try (MemberProcess killed = MemberProcess.start(file, store);
        MemberProcess left = MemberProcess.start(file, store)) {
      Server stays = of(left);
      describe(stays, "");
      awaitShared(stays);
      awaitCopies(stays, "shared");
      killed.kill();
      Await.until(TAKEN_OVER, "the other one has all", () -> stays.ownJobs() == JOBS);
      awaitAllAt(stays);
      awaitCopies(stays, "alone");
    }
  }

  /** What the other one has copied is purged, so that all that comes later would be seen. */
  @Test
  void a_process_that_slept_stores_nothing_of_what_it_lost() {
    TestStores.onlyCluster();
    Path file = ClusterFile.write(folder);
    try (MemberProcess sleeper = MemberProcess.start(file, store);
        MemberProcess other = MemberProcess.start(file, store)) {
      Server stays = of(other);
      Server sleeps = of(sleeper);
      describe(stays, ",\"worker_processes\":1,\"worker_batch_size\":1,\"checkpoint_interval\":50");
      awaitShared(stays);
      List<Integer> own = jobsOf(sleeps.node(), stays).subList(0, 2);
      own.forEach(job -> write(stays, "/a" + job));
      Await.until(
          "it has copied some, and not all",
          () -> own.stream().anyMatch(job -> isUnderWay(stays, job)));
      sleeper.freeze();
      List<Integer> cutOff = own.stream().filter(job -> isUnderWay(stays, job)).toList();
      Await.until("the other one has all", () -> stays.ownJobs() == JOBS);
      own.forEach(job -> Await.until("all is copied", () -> copies(stays, job) == DOCUMENTS));
      stays.ask("DELETE", "/_replicator", "");
      Await.until("nothing is replicated", () -> stays.ownJobs() == 0);
      cutOff.forEach(job -> purge(stays, "/b" + job));
      List<String> before = state(stays, cutOff);

      sleeper.wake();
      Await.until("it knows that it has none", () -> sleeps.ownJobs() == 0);
      sleeper.stop();

      assertThat(cutOff).isNotEmpty();
      assertThat(state(stays, cutOff)).isEqualTo(before);
    }
  }

  private static void write(Server server, String database) {
    String documents =
        IntStream.range(0, DOCUMENTS)
            .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
            .collect(Collectors.joining(","));
    server.ask("POST", database + "/_bulk_docs", "{\"docs\":[" + documents + "]}");
  }

  private static int copies(Server server, int job) {
    return server.number("/b" + job, "doc_count");
  }

  private static boolean isUnderWay(Server server, int job) {
    int copies = copies(server, job);
    return copies > 0 && copies < DOCUMENTS;
  }

  private static void purge(Server server, String database) {
    String revisions =
        REVISION
            .matcher(server.get(database + "/_changes"))
            .results()
            .map(row -> "\"" + row.group(1) + "\":[\"" + row.group(2) + "\"]")
            .collect(Collectors.joining(","));
    server.ask("POST", database + "/_purge", "{" + revisions + "}");
    assertThat(server.number(database, "doc_count")).isZero();
  }

  /** Returns the checkpoints of replications, and what their targets have. */
  private static List<String> state(Server server, List<Integer> jobs) {
    return jobs.stream()
        .flatMap(
            job ->
                Stream.of(
                    server.get("/a" + job + "/_local_docs?include_docs=true"),
                    server.get("/b" + job + "/_local_docs?include_docs=true"),
                    server.get("/b" + job + "/_changes")))
        .toList();
  }

  /**
   * Servers in processes of their own share the tasks of jobs on one FoundationDB cluster, and one
   * of them is killed.
   */
  @Nested
  class Jobs {
    private static final int DOCUMENTS = 12_000;
    private static final int IN_A_REQUEST = 1_000;
    private static final int VALUES = 50;
    private static final int CHANNELS = 10;

    /** Their edits move them to another value and another channel. */
    private static final int EDITED = 20;

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
          .map(Jobs::row)
          .sorted()
          .toList();
    }

    private static List<String> rows(MemberProcess server) {
      Answer answer = server.get("/w/_changes?filter=_feed/f&channel=c1");
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      return answer.body().lines().filter(it -> it.startsWith("{\"seq\"")).map(Jobs::row).toList();
    }

    /** Without the comma between rows. */
    private static String row(String line) {
      return line.endsWith(",") ? line.substring(0, line.length() - 1) : line;
    }

    private static Answer post(MemberProcess server, String target, String json) {
      return new Request(server.port(), "POST", target).json(json).send();
    }
  }
}
