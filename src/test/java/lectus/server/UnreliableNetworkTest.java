package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A whole server whose commits and answers are lost and late: its clients notice nothing. No
 * request fails because of its own earlier attempt, and none is carried out twice.
 */
final class UnreliableNetworkTest {
  private static final int FIXED_SEEDS = 1;
  private static final int ROUNDS = 10;

  private static final List<Fault> FAULTS =
      Arrays.stream(Fault.values()).filter(it -> it != Fault.NONE && it != Fault.IO_ERROR).toList();

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store sound = stores.fresh();
  private final FaultyStore faulty = new FaultyStore(sound, true);
  private final LectusServer server = LectusServer.start(faulty.store());

  /** Fixed seeds, and one that is new in every run; a failing test's name contains it. */
  static LongStream seeds() {
    return LongStream.concat(
        LongStream.range(0, FIXED_SEEDS), LongStream.of(System.nanoTime() & 0xffff_ffffL));
  }

  private static Fault anyOf(Random random) {
    return FAULTS.get(random.nextInt(FAULTS.size()));
  }

  /**
   * Not the pulse: a store that seems to be silent as a whole is another matter, clients are told.
   */
  private static boolean isOfRequest() {
    return Thread.currentThread().getName().startsWith("lectus-");
  }

  @AfterEach
  void stop() {
    faulty.heal();
    server.close();
    faulty.deliver();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void clients_notice_nothing(long seed) {
    Random random = new Random(seed);
    faulty.keepFailing(() -> isOfRequest() && random.nextInt(3) == 0 ? anyOf(random) : Fault.NONE);
    faulty.completing(commit -> delayed(commit, random.nextInt(4)));

    assertCreated(server.put("/w"));
    String rev = "";
    for (int i = 0; i < ROUNDS; i++) {
      Answer written = server.put("/w/a" + rev, "{\"i\":" + i + "}");
      assertCreated(written);
      rev = "?rev=" + written.member("rev");
      assertThat(written.member("rev")).startsWith(i + 1 + "-");
      bulk(i);
      local(i);
      passing(i);
    }
    server.delete("/w/a" + rev).expect(200);

    faulty.heal();
    faulty.deliver();
    assertThat(server.get("/w").body())
        .contains("\"doc_count\":" + 2 * ROUNDS + ",", "\"doc_del_count\":1,");
    assertThat(server.get("/_all_dbs").body().strip()).isEqualTo("[\"w\"]");
    assertThat(server.get("/w/_changes").body().lines().filter(it -> it.startsWith("{\"seq\"")))
        .hasSize(2 * ROUNDS + 1);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void a_listener_hears_of_each_write_once(long seed) {
    Random random = new Random(seed);
    assertCreated(server.put("/w"));
    faulty.keepFailing(() -> isOfRequest() && random.nextInt(3) == 0 ? anyOf(random) : Fault.NONE);

    try (Connection feed =
        server
            .request("GET", "/w/_changes?feed=continuous&heartbeat=60000&limit=" + ROUNDS)
            .open()) {
      feed.readHead();
      for (int i = 0; i < ROUNDS; i++) {
        assertCreated(server.put("/w/d" + i, "{}"));
      }
      StringBuilder rows = new StringBuilder();
      for (String chunk = feed.chunkText(); !chunk.isEmpty(); chunk = feed.chunkText()) {
        rows.append(chunk);
      }
      List<String> ids =
          rows.toString()
              .lines()
              .filter(it -> it.startsWith("{\"seq\""))
              .map(it -> it.replaceAll(".*\"id\":\"(d[0-9]+)\".*", "$1"))
              .toList();
      assertThat(ids).hasSize(ROUNDS).doesNotHaveDuplicates();
    }
  }

  @Test
  void a_write_that_is_given_up_is_503_and_leaves_nothing() {
    assertCreated(server.put("/w"));
    // As often as one document is tried; then the store answers that none of the commits was
    // stored.
    List<Fault> lost = Collections.nCopies(201, Fault.TIMED_OUT_AND_LOST);
    faulty.keepFailing(FaultyStore.onThreads("lectus-executor", lost));

    Answer answer = server.put("/w/a", "{}").expect(503);
    assertThat(answer.header("retry-after")).isEqualTo("1");
    answer.expect(
        "{\"error\":\"service_unavailable\","
            + "\"reason\":\"The store did not answer in time; nothing was stored.\"}\n");
    server.get("/w/a").expect(404);
    assertCreated(server.put("/w/a", "{}"));
  }

  @Test
  void a_write_of_which_the_store_does_not_say_what_became_may_have_been_stored() {
    assertCreated(server.put("/w"));
    // So often that the last transaction, which would settle the doubt, is not answered either.
    List<Fault> lost = Collections.nCopies(1_000, Fault.TIMED_OUT_AND_LOST);
    faulty.keepFailing(FaultyStore.onThreads("lectus-executor", lost));

    Answer answer = server.put("/w/a", "{}");
    faulty.heal();

    answer.expect(503);
    assertThat(answer.header("retry-after")).isEqualTo("1");
    answer.expect(
        "{\"error\":\"service_unavailable\",\"reason\":\"The write may have been stored: the"
            + " store did not say (1031).\"}\n");
    assertCreated(server.put("/w/b", "{}"));
  }

  private void bulk(int round) {
    String docs = "[{\"_id\":\"b" + round + "\"},{\"_id\":\"c" + round + "\"}]";
    String atomic = round % 2 == 0 ? "\"atomic\":true," : "";
    Answer answer = server.post("/w/_bulk_docs", "{" + atomic + "\"docs\":" + docs + "}");
    assertCreated(answer);
    assertThat(answer.body()).doesNotContain("error");
  }

  /** The second deletion of a pair would be a 404. */
  private void local(int round) {
    assertCreated(server.put("/w/_local/l", "{}"));
    if (round % 3 == 0) {
      server.delete("/w/_local/l").expect(200);
    }
  }

  /** The second creation would be a 412, the second deletion a 404. */
  private void passing(int round) {
    assertCreated(server.put("/passing" + round));
    server.put("/passing" + round + "/_security", "{}").expect(200);
    server.delete("/passing" + round).expect(200);
  }

  private static void assertCreated(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
  }

  private static CompletableFuture<Void> delayed(CompletableFuture<Void> commit, int millis) {
    return commit
        .handle((done, failure) -> commit)
        .thenComposeAsync(
            it -> it, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
  }
}
