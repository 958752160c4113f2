package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.config.WorkerKeys;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.metrics.StageNotes;
import lectus.revision.RevisionId;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One executor, whose commits are answered when the test allows it. */
final class PendingBatchesTest {
  private static final int CLIENTS = 12;
  private static final int STEPS = 40;
  private static final int DATABASES = 3;
  private static final int MANY = 12;

  /** A write that has to be answered within ten seconds has seven for its attempts. */
  private static final Duration MIN_TIME = Duration.ofSeconds(7);

  private static final int REQUEST_SECONDS = 10;

  private static final int TIMED_OUT = 1031;

  private static final List<Fault> FAULTS =
      List.of(
          Fault.NOT_COMMITTED,
          Fault.TOO_OLD,
          Fault.UNKNOWN_BUT_STORED,
          Fault.UNKNOWN_AND_LOST,
          Fault.TIMED_OUT_BUT_STORED,
          Fault.TIMED_OUT_THEN_STORED);

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store sound = stores.fresh();
  private final FaultyStore faulty = new FaultyStore(sound, true);
  private final LectusServer server =
      LectusServer.start(
          faulty.store(),
          new TestSettings().with(WorkerKeys.EXECUTORS, 1).requestSeconds(REQUEST_SECONDS));

  private final ExecutorService clients = Executors.newCachedThreadPool();
  private boolean closed;
  private final Queue<Held> held = new ConcurrentLinkedQueue<>();

  /** A commit that was made, and its answer. */
  private record Held(CompletableFuture<Void> commit, CompletableFuture<Void> answer) {
    void letGo() {
      commit.whenComplete(
          (done, failure) -> {
            if (failure == null) {
              answer.complete(null);
            } else {
              answer.completeExceptionally(failure);
            }
          });
    }
  }

  @AfterEach
  void stop() {
    letGo();
    if (!closed) {
      server.close();
    }
    clients.shutdownNow();
  }

  /** Holds the answers to executors' commits from now on. */
  private void hold() {
    faulty.completing(
        commit -> {
          if (!Thread.currentThread().getName().startsWith("lectus-executor")) {
            return commit;
          }
          Held one = new Held(commit, new CompletableFuture<>());
          held.add(one);
          return one.answer();
        });
  }

  private void letGo() {
    faulty.completing(commit -> commit);
    for (Held one = held.poll(); one != null; one = held.poll()) {
      one.letGo();
    }
  }

  private void untilHeld(int commits) {
    Await.until(commits + " commits are on their way", () -> held.size() == commits);
  }

  private CompletableFuture<Answer> put(String target, String json) {
    return CompletableFuture.supplyAsync(() -> server.put(target, json), clients);
  }

  private CompletableFuture<Answer> put(String target) {
    return put(target, "{}");
  }

  @Test
  void other_databases_are_written_to_while_a_commit_is_on_its_way() {
    create("v", "w");
    hold();
    CompletableFuture<Answer> first = put("/v/a");
    untilHeld(1);
    CompletableFuture<Answer> second = put("/w/a");
    untilHeld(2);
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();

    letGo();
    first.join().expect(201);
    second.join().expect(201);
  }

  @Test
  void many_documents_of_one_database_do_not_wait_for_a_commit_either() {
    create("w");
    hold();
    CompletableFuture<Answer> first = put("/w/a");
    untilHeld(1);
    CompletableFuture<Answer> second =
        CompletableFuture.supplyAsync(() -> server.post("/w/_bulk_docs", documents(64)), clients);
    untilHeld(2);

    letGo();
    first.join().expect(201);
    second.join().expect(201);
    assertThat(server.get("/w").body()).contains("\"doc_count\":65,");
  }

  private static String documents(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "{\"_id\":\"d" + i + "\"}")
        .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
  }

  @Test
  void a_document_whose_commit_is_on_its_way_waits_for_the_answer() {
    create("v", "w");
    hold();
    CompletableFuture<Answer> first = put("/w/a", "{\"n\":1}");
    untilHeld(1);
    CompletableFuture<Answer> second = put("/w/a", "{\"n\":2}");
    CompletableFuture<Answer> other = put("/v/a");
    untilHeld(2);

    letGo();
    first.join().expect(201);
    second.join().expect(409);
    other.join().expect(201);
    assertThat(server.get("/w/a").body()).contains("\"n\":1");
  }

  @Test
  void commits_that_are_lost_are_made_again_beside_others_that_are_not() {
    create("u", "v", "w");
    faulty.keepFailing(
        FaultyStore.onThreads(
            "lectus-executor", List.of(Fault.NOT_COMMITTED, Fault.UNKNOWN_BUT_STORED, Fault.NONE)));
    hold();
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (String database : List.of("u", "v", "w")) {
      answers.add(put("/" + database + "/a"));
      untilHeld(answers.size());
    }

    letGo();
    assertThat(answers).allMatch(answer -> answer.join().status() == 201);
    for (String database : List.of("u", "v", "w")) {
      assertThat(server.get("/" + database + "/a").body()).contains("\"_rev\":\"1-");
    }
  }

  @Test
  void writes_are_tried_again_side_by_side() {
    faulty.keepFailing(
        FaultyStore.onThreads("lectus-executor", Collections.nCopies(MANY, Fault.NOT_COMMITTED)));
    List<CompletableFuture<Answer>> answers = beginMany();
    for (int i = 0; i < MANY; i++) {
      held.remove().letGo();
    }
    untilHeld(MANY);
    assertThat(answers).noneMatch(CompletableFuture::isDone);

    letGo();
    assertThat(answers).allMatch(answer -> answer.join().status() == 201);
  }

  @Test
  void doubts_are_settled_side_by_side_when_the_time_of_the_writes_is_over() throws Exception {
    List<CompletableFuture<Answer>> answers = beginMany();
    long over = System.nanoTime() + MIN_TIME.toNanos();
    Await.until("no other attempt may follow", () -> System.nanoTime() - over >= 0);
    for (int i = 0; i < MANY; i++) {
      held.remove().answer().completeExceptionally(new FDBException("injected", TIMED_OUT));
    }
    untilHeld(MANY);
    server.get("/w0").expect(200);
    assertThat(answers).noneMatch(CompletableFuture::isDone);

    letGo();
    assertThat(answers).as("all were stored").allMatch(answer -> answer.join().status() == 201);
  }

  /** Begins a write of each of several databases, on one executor. */
  private List<CompletableFuture<Answer>> beginMany() {
    for (int i = 0; i < MANY; i++) {
      create("w" + i);
    }
    hold();
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      answers.add(put("/w" + i + "/a"));
    }
    untilHeld(MANY);
    return answers;
  }

  @Test
  void an_error_in_place_of_an_answer_ends_its_own_batch() {
    create("w");
    AtomicBoolean thrown = new AtomicBoolean();
    faulty.completing(
        commit ->
            commit.thenApply(
                done -> {
                  if (thrown.compareAndSet(false, true)) {
                    throw new AssertionError("injected");
                  }
                  return done;
                }));

    server.put("/w/a", "{}").expect(500);
    server.put("/w/b", "{}").expect(201);
    assertThat(server.put("/w/a", "{}").status()).as("it is stored").isEqualTo(409);
  }

  @Test
  void a_batch_that_could_not_be_begun_is_over() {
    TestDatabase database = TestDatabase.create(sound);
    List<Throwable> failures = new ArrayList<>();
    Completion failing =
        new Completion() {
          private boolean isQueued;

          @Override
          public void written(List<EditOutcome> outcomes) {
            throw new AssertionError("It was not written");
          }

          @Override
          public void failed(Throwable failure) {
            failures.add(failure);
          }

          @Override
          public StageNotes stages() {
            if (isQueued) {
              throw new AssertionError("injected");
            }
            isQueued = true;
            return StageNotes.NONE;
          }
        };
    WriteQueue queue = new WriteQueue(new WriteSettings(1, 10, 1_000, 4, 100));
    List<Edit> edit = List.of(InteractiveEdit.deletion("a", Optional.empty()));
    queue.offer(new PendingWrite(database.name, edit, false, 1, failing));
    UpdateAnnouncer announcer =
        new UpdateAnnouncer(new ListenerRegistry(Runnable::run), Optional.empty());
    PendingBatches flights = new PendingBatches(queue, database.writer, announcer, () -> {});

    flights.run(WriteQueueTest.begun(queue));
    assertThat(failures).singleElement().isInstanceOf(AssertionError.class);
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void a_server_that_stops_waits_for_what_is_on_its_way_and_writes_what_waits_for_it() {
    create("v", "w");
    hold();
    server.put("/v/a?batch=ok", "{}").expect(202);
    server.put("/w/a?batch=ok", "{\"n\":1}").expect(202);
    untilHeld(2);
    server.put("/w/b?batch=ok", "{}").expect(202);
    server.put("/w/a?batch=ok", "{\"n\":2}").expect(202);
    CompletableFuture<Void> stopped = CompletableFuture.runAsync(server::close, clients);
    letGo();
    stopped.join();
    closed = true;

    try (LectusServer again = LectusServer.start(sound)) {
      again.get("/v/a").expect(200);
      assertThat(again.get("/w/a").body()).contains("\"n\":1");
      again.get("/w/b").expect(200);
    }
  }

  /**
   * Clients of several databases, with documents of their own and some that they share with a
   * writer outside this server, on a store that loses commits and answers.
   */
  @Test
  void no_write_is_lost_and_none_is_made_twice() {
    long seed = System.nanoTime();
    List<TestDatabase> databases = new ArrayList<>();
    for (int i = 0; i < DATABASES; i++) {
      databases.add(TestDatabase.create(sound, "db" + i));
      databases.get(i).put("shared", "{}");
    }
    Random random = new Random(seed);
    faulty.keepFailing(() -> anyFault(random));
    faulty.completing(commit -> late(commit));

    List<CompletableFuture<int[]>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(
          CompletableFuture.supplyAsync(() -> edit(client, new Random(seed + client)), clients));
    }
    int[] shared = new int[DATABASES];
    for (int i = 0; i < STEPS; i++) {
      TestDatabase database = databases.get(i % DATABASES);
      RevisionId base = database.winner("shared").leaf();
      EditOutcome outcome = database.write(TestDatabase.edit("shared", base, "{\"i\":" + i + "}"));
      shared[i % DATABASES] += outcome instanceof EditOutcome.Written ? 1 : 0;
    }
    for (CompletableFuture<int[]> client : running) {
      int[] its = client.join();
      for (int i = 0; i < DATABASES; i++) {
        shared[i] += its[i];
      }
    }
    faulty.heal();
    faulty.deliver();

    for (int i = 0; i < DATABASES; i++) {
      assertThat(databases.get(i).winner("shared").leaf().position())
          .as("seed %d", seed)
          .isEqualTo(1 + shared[i]);
    }
  }

  private static Fault anyFault(Random random) {
    return Thread.currentThread().getName().startsWith("lectus-executor") && random.nextInt(4) == 0
        ? FAULTS.get(random.nextInt(FAULTS.size()))
        : Fault.NONE;
  }

  /** Answers come late, and in another order than the commits. */
  private static CompletableFuture<Void> late(CompletableFuture<Void> commit) {
    int milliseconds = ThreadLocalRandom.current().nextInt(5);
    return milliseconds == 0
        ? commit
        : commit
            .handle((done, failure) -> commit)
            .thenComposeAsync(
                it -> it, CompletableFuture.delayedExecutor(milliseconds, TimeUnit.MILLISECONDS));
  }

  /** Returns how many edits of each database's shared document were answered as written. */
  private int[] edit(int client, Random random) {
    String[] own = new String[DATABASES];
    int[] shared = new int[DATABASES];
    for (int step = 0; step < STEPS; step++) {
      int number = random.nextInt(DATABASES);
      String body = "{\"client\":" + client + ",\"step\":" + step + "}";
      if (random.nextInt(3) == 0) {
        String target = "/db" + number + "/shared";
        String rev = server.get(target).member("_rev");
        Answer answer = server.put(target + "?rev=" + rev, body);
        assertThat(answer.status()).as(answer.body()).isIn(201, 409);
        shared[number] += answer.status() == 201 ? 1 : 0;
      } else {
        String target = "/db" + number + "/own" + client;
        Answer answer =
            server.put(own[number] == null ? target : target + "?rev=" + own[number], body);
        assertThat(answer.status()).as(answer.body()).isEqualTo(201);
        own[number] = answer.member("rev");
        assertThat(server.get(target).member("_rev")).isEqualTo(own[number]);
      }
    }
    return shared;
  }

  private void create(String... databases) {
    for (String database : databases) {
      server.put("/" + database).expect(201);
    }
  }
}
