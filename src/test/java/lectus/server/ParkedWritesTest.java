package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.document.edit.Edit;
import lectus.document.testing.JavaFunctions;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.document.write.Judge;
import lectus.document.write.WriteRules;
import lectus.document.write.WriteRules.EditRule;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One executor, whose writes functions judge when the test allows it. */
final class ParkedWritesTest {
  private static final LectusError TOO_LATE = new LectusError.Unavailable("too late");
  private static final LectusError REFUSED = new LectusError.Forbidden("no");

  /** Of the memory for questions a database may have half: one such document, not two. */
  private static final String LONG = "{\"text\":\"" + "x".repeat(8_000) + "\"}";

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private final TestDatabase one = TestDatabase.create(store, "one");
  private final TestDatabase other = TestDatabase.create(store, "other");
  private final List<Asked> asked = new CopyOnWriteArrayList<>();
  private final ExecutorService executor = Executors.newSingleThreadExecutor();

  /** A quarter of its memory, 25 kB, is for questions. */
  private final WriteQueue queue = new WriteQueue(new WriteSettings(1, 100, 100_000, 10, 50_000));

  private final PendingBatches batches =
      new PendingBatches(
          queue,
          new DocumentWriter(
              store, one.catalogue, new WriteRules(false, EditRule.NONE, this::judge)),
          new UpdateAnnouncer(new ListenerRegistry(Runnable::run), Optional.empty()),
          this::wake);

  /** A question that is answered by the test. */
  private record Asked(Judge.Question question, CompletableFuture<Judge.Verdict> verdict) {
    void answer(LectusError... refusal) {
      verdict.complete(new Judge.Verdict(question.judged(), List.of(refusal).stream().findFirst()));
    }
  }

  /** A client that waits for a write, and is answered once. */
  private static final class Client implements Completion {
    private final CompletableFuture<List<EditOutcome>> answer = new CompletableFuture<>();
    private volatile boolean left;

    @Override
    public void written(List<EditOutcome> outcomes) {
      assertThat(answer.complete(List.copyOf(outcomes))).isTrue();
    }

    @Override
    public void failed(Throwable failure) {
      assertThat(answer.completeExceptionally(failure)).isTrue();
    }

    @Override
    public boolean hasLeft() {
      return left;
    }

    EditOutcome outcome() {
      return answer.join().get(0);
    }
  }

  private List<CompletableFuture<Judge.Verdict>> judge(List<Judge.Question> questions) {
    List<Asked> now =
        questions.stream().map(it -> new Asked(it, new CompletableFuture<>())).toList();
    asked.addAll(now);
    return now.stream().map(Asked::verdict).toList();
  }

  private void wake() {
    executor.execute(this::drain);
  }

  private void drain() {
    for (QueuedBatch batch = queue.take(); batch != null; batch = queue.take()) {
      batches.run(batch);
      queue.done(batch, 0);
    }
  }

  @BeforeEach
  void define() {
    one.put("_design/v", JavaFunctions.validating("accept"));
  }

  @AfterEach
  void stop() {
    Await.until("nothing is left", queue::isIdle);
    executor.shutdown();
  }

  private Client put(TestDatabase db, String id, String json) {
    return write(db, OptionalLong.empty(), TestDatabase.edit(id, null, json));
  }

  private Client write(TestDatabase db, OptionalLong deadline, Edit... edits) {
    Client client = new Client();
    if (queue.offer(new PendingWrite(db.name, List.of(edits), false, 100, client, deadline))) {
      wake();
    }
    return client;
  }

  private Asked question(int number) {
    Await.until("it is asked", () -> asked.size() > number);
    return asked.get(number);
  }

  private static String idOf(Asked asked) {
    return JavaFunctions.text(asked.question().newDoc()).substring(8, 9);
  }

  private static void assertWritten(Client client) {
    assertThat(client.outcome()).isInstanceOf(EditOutcome.Written.class);
  }

  @Test
  void other_documents_are_written_while_one_is_judged() {
    Client judged = put(one, "a", "{}");
    question(0);

    assertWritten(put(one, "_design/w", "{}"));
    assertWritten(write(one, OptionalLong.empty(), TestDatabase.local("_local/x", "0-0", "{}")));
    assertWritten(put(other, "a", "{}"));
    Client second = put(one, "b", "{}");
    question(1).answer();
    assertWritten(second);
    assertThat(judged.answer).isNotDone();
    question(0).answer();
    assertWritten(judged);
  }

  @Test
  void later_edits_of_a_document_wait_behind_one_that_is_judged() {
    Client first = put(one, "a", "{\"v\":1}");
    Client second = put(one, "a", "{\"v\":2}");
    Client third = put(one, "b", "{}");

    question(1).answer();
    assertWritten(third);
    assertThat(asked).hasSize(2);
    question(0).answer(REFUSED);
    assertThat(TestDatabase.error(first.outcome())).isEqualTo(REFUSED);
    question(2).answer();
    assertWritten(second);
  }

  @Test
  void what_needs_no_verdict_of_a_write_is_stored_whatever_becomes_of_the_rest() {
    Client client =
        write(
            one,
            OptionalLong.empty(),
            TestDatabase.edit("a", null, "{}"),
            TestDatabase.local("_local/x", "0-0", "{}"),
            TestDatabase.edit("b", null, "{}"));
    question(0).answer();
    question(1);
    assertThat(client.answer).isNotDone();

    client.left = true;
    queue.giveUpOverdue(TOO_LATE);

    List<EditOutcome> outcomes = client.answer.join();
    assertThat(TestDatabase.error(outcomes.get(0))).isEqualTo(TOO_LATE);
    TestDatabase.written(outcomes.get(1));
    assertThat(TestDatabase.error(outcomes.get(2))).isEqualTo(TOO_LATE);
  }

  @Test
  void questions_have_a_part_of_the_memory_and_a_database_half_of_what_others_leave() {
    other.put("_design/v", JavaFunctions.validating("accept"));
    Client fits = put(one, "a", LONG);
    Client beyond = put(one, "b", LONG);
    question(1);
    Client waiting = put(one, "c", LONG);
    Client small = put(one, "d", "{}");
    Client elsewhere = put(other, "a", "{}");
    question(2).answer();
    assertWritten(elsewhere);
    assertThat(asked).hasSize(3);
    assertThat(waiting.answer).isNotDone();

    question(0).answer();
    assertWritten(fits);
    assertThat(idOf(question(3))).isEqualTo("d");
    assertThat(asked).hasSize(4);
    question(1).answer();
    assertWritten(beyond);
    assertThat(idOf(question(4))).isEqualTo("c");
    question(3).answer();
    question(4).answer();
    assertWritten(waiting);
    assertWritten(small);
  }

  @Test
  void a_write_that_waits_for_memory_ends_with_its_client() {
    Client fits = put(one, "a", LONG);
    Client beyond = put(one, "b", LONG);
    question(1);
    Client waiting = put(one, "c", LONG);
    Await.until("all are parked", () -> queue.parked() == 3);

    waiting.left = true;
    queue.giveUpOverdue(TOO_LATE);
    assertThat(waiting.answer)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .withCauseInstanceOf(LectusException.class);
    asked.forEach(Asked::answer);
    assertWritten(fits);
    assertWritten(beyond);
    assertThat(asked).hasSize(2);
  }

  @Test
  void writes_that_wait_for_memory_go_on_when_those_before_them_need_no_verdict_any_more() {
    put(one, "a", LONG);
    put(one, "b", LONG);
    question(1);
    List<Client> waiting = new ArrayList<>();
    for (String id : List.of("c", "d", "e", "f")) {
      waiting.add(put(one, id, LONG));
    }
    Await.until("all are parked", () -> queue.parked() == 6);
    one.delete("_design/v", one.winner("_design/v").leaf());
    question(0).answer();
    question(1).answer();
    waiting.forEach(ParkedWritesTest::assertWritten);
  }

  @Test
  void a_write_ends_when_it_has_waited_too_long_and_its_document_is_free() {
    Client late =
        write(one, OptionalLong.of(System.nanoTime()), TestDatabase.edit("a", null, "{}"));
    Client next = put(one, "a", "{}");
    question(0);

    queue.giveUpOverdue(TOO_LATE);
    assertThat(late.answer)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .withCauseInstanceOf(LectusException.class);
    assertThat(question(0).verdict()).isCancelled();
    question(1).answer();
    assertWritten(next);
  }

  @Test
  void a_judge_that_fails_keeps_nothing() {
    Client client = put(one, "a", "{}");
    question(0).verdict().cancel(false);

    assertThat(client.answer).failsWithin(Duration.ofSeconds(10));
    assertThat(Optional.of(one.leaves("a"))).contains(List.of());
  }

  /** Under load, whoever is judged, given up or postponed is answered once. */
  @Test
  void every_write_is_answered_once() {
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      clients.add(put(i % 3 == 0 ? other : one, "d" + i % 20, i % 2 == 0 ? LONG : "{}"));
      clients.get(i).left = i % 7 == 0;
    }
    Await.until(
        "all are answered",
        () -> {
          queue.giveUpOverdue(TOO_LATE);
          asked.forEach(Asked::answer);
          return clients.stream().allMatch(it -> it.answer.isDone());
        });
  }
}
