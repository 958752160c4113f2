package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests whose parts fail in different ways, and those that cannot take the outcomes of their
 * edits, for example for lack of memory.
 */
final class OutcomesTest {
  private static final DatabaseName DATABASE = DatabaseName.of("a");
  private static final List<Edit> EDIT = List.of(InteractiveEdit.deletion("d", Optional.empty()));
  private static final List<EditOutcome> OUTCOME = List.of(new EditOutcome.Withheld("d"));

  private final List<String> told = new ArrayList<>();
  private final Vertx vertx = Vertx.vertx();

  private static final WriteSettings SETTINGS = new WriteSettings(2, 100, 1_000, 100, 1_000);

  private final List<WriteQueue> queues =
      Stream.generate(() -> new WriteQueue(SETTINGS)).limit(2).toList();

  private final WriteRouter router =
      new WriteRouter(vertx.eventBus(), queues, 100, Duration.ofMinutes(1));
  private final List<Throwable> failures = new ArrayList<>();

  @AfterEach
  void stop() {
    vertx.close().await();
  }

  /** Notes its outcomes. */
  private record Request(String name, List<String> told, boolean takesOutcomes)
      implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      if (!takesOutcomes) {
        throw new OutOfMemoryError("injected");
      }
      told.add(name + " written");
    }

    @Override
    public void failed(Throwable failure) {
      told.add(name + " failed: " + failure.getMessage());
      if (!takesOutcomes) {
        throw new OutOfMemoryError("injected");
      }
    }
  }

  private PendingWrite write(String name, boolean takesOutcomes) {
    return new PendingWrite(DATABASE, EDIT, false, 1, new Request(name, told, takesOutcomes));
  }

  @Test
  void one_that_cannot_take_them_fails_and_the_others_are_told() {
    QueuedBatch batch =
        new QueuedBatch(null, List.of(write("a", true), write("b", false), write("c", true)));

    batch.complete(List.of(OUTCOME.get(0), OUTCOME.get(0), OUTCOME.get(0)));
    assertThat(told).containsExactly("a written", "b failed: injected", "c written");

    told.clear();
    batch.fail(new IllegalStateException("lost"));
    assertThat(told).containsExactly("a failed: lost", "b failed: lost", "c failed: lost");
  }

  @Test
  void one_with_many_edits_fails_once() {
    WriteQueue queue = queue();
    WriteRouter router =
        new WriteRouter(vertx.eventBus(), List.of(queue), 4, Duration.ofMinutes(1));

    router.writeAll(DATABASE, EDIT, 1, new Request("b", told, false));
    WriteQueueTest.begun(queue).complete(OUTCOME);

    assertThat(told).containsExactly("b failed: injected");
  }

  @Test
  void one_of_which_a_part_is_in_doubt_is_in_doubt() {
    List<WriteQueue> queues = List.of(queue(), queue());
    WriteRouter router = new WriteRouter(vertx.eventBus(), queues, 4, Duration.ofMinutes(1));
    List<Edit> edits = new ArrayList<>();
    for (char id = 'a'; id < 'i'; id++) {
      edits.add(InteractiveEdit.deletion(String.valueOf(id), Optional.empty()));
    }
    LectusError doubt = new LectusError.InDoubt("It may have been stored.", 1);

    router.writeAll(DATABASE, edits, 8, new Request("b", told, true));
    WriteQueueTest.begun(queues.get(0))
        .fail(new LectusException(new LectusError.Unavailable("It is not.")));
    WriteQueueTest.begun(queues.get(1)).fail(new LectusException(doubt));

    assertThat(told).hasSize(1).first().asString().contains("It may have been stored.");
  }

  private static WriteQueue queue() {
    return new WriteQueue(new WriteSettings(2, 10, 1_000, 4, 100));
  }

  private void write() {
    List<Edit> edits =
        IntStream.range(0, 20)
            .<Edit>mapToObj(i -> InteractiveEdit.deletion("d" + i, Optional.empty()))
            .toList();
    router.writeAll(
        DATABASE,
        edits,
        20,
        new Completion() {
          @Override
          public void written(List<EditOutcome> outcomes) {
            throw new AssertionError(outcomes);
          }

          @Override
          public void failed(Throwable failure) {
            failures.add(failure);
          }
        });
  }

  private void fail(int executor, LectusError why) {
    QueuedBatch batch = WriteQueueTest.begun(queues.get(executor));
    batch.fail(new LectusException(why));
    queues.get(executor).release(batch);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void that_some_of_it_may_be_stored_is_told_whichever_part_fails_first(int first) {
    LectusError doubt = new LectusError.InDoubt("It may have been stored.", 1);
    LectusError refusal = new LectusError.Unavailable("The request has waited for too long.");
    write();
    fail(0, first == 0 ? refusal : doubt);
    fail(1, first == 0 ? doubt : refusal);

    assertThat(failures).hasSize(1);
    assertThat(((LectusException) failures.get(0)).error()).isEqualTo(doubt);
  }

  /** What of a long request goes into the queue at once, which always takes four edits. */
  @Nested
  class Slices {
    private static final WriteSettings SETTINGS = new WriteSettings(1, 1_000, 100_000, 4, 1_000);

    private static final Completion IGNORED =
        new Completion() {
          @Override
          public void written(List<EditOutcome> outcomes) {}

          @Override
          public void failed(Throwable failure) {}
        };
    private final WriteQueue queue = new WriteQueue(SETTINGS);

    private final WriteRouter router =
        new WriteRouter(vertx.eventBus(), List.of(queue), 4, Duration.ofMinutes(1));

    @AfterEach
    void stop() {
      vertx.close().await();
    }

    /** How many edits each transaction takes. */
    private List<Integer> sizes(Stream<String> ids) {
      return sizes(ids.<Edit>map(id -> InteractiveEdit.deletion(id, Optional.empty())).toList());
    }

    private List<Integer> sizes(List<Edit> edits) {
      router.writeAll(DatabaseName.of("a"), edits, edits.size(), IGNORED);
      List<Integer> sizes = new ArrayList<>();
      QueuedBatch batch = WriteQueueTest.begun(queue);
      while (batch != null) {
        sizes.add(batch.size());
        batch.complete(
            batch.edits().stream()
                .<EditOutcome>map(it -> new EditOutcome.Withheld(it.id()))
                .toList());
        queue.release(batch);
        batch = WriteQueueTest.begun(queue);
      }
      return sizes;
    }

    private static Stream<String> different(int number) {
      return IntStream.range(0, number).mapToObj(i -> "d" + i);
    }

    @Test
    void a_request_goes_in_wide_slices() {
      assertThat(sizes(different(20))).containsExactly(16, 4);
    }

    @Test
    void a_document_that_comes_again_and_again_goes_in_narrow_ones() {
      assertThat(sizes(Stream.generate(() -> "d").limit(10))).containsExactly(4, 4, 2);
    }

    @Test
    void a_document_that_comes_again_ends_a_wide_slice() {
      assertThat(sizes(Stream.concat(different(6), different(20)))).containsExactly(6, 16, 4);
    }

    @Test
    void the_first_of_a_slice_may_come_again() {
      assertThat(sizes(Stream.concat(Stream.of("d0", "d0"), different(2)))).containsExactly(4);
    }

    @Test
    void revisions_of_one_document_that_a_replicator_brings_go_together() {
      List<Edit> edits =
          IntStream.range(0, 20)
              .<Edit>mapToObj(
                  i ->
                      new ReplicatedEdit(
                          "d",
                          RevisionPath.of(RevisionId.of("1-" + i)),
                          false,
                          ExplodedBody.empty()))
              .toList();
      assertThat(sizes(edits)).containsExactly(16, 4);
    }
  }

  /** Requests whose edits wait for several transactions, two edits for each. */
  @Nested
  class SeveralTransactions {
    @RegisterExtension static final TestStores stores = SoundStore.stores();

    private final FaultyStore faulty = new FaultyStore(stores.fresh());

    /** A quarter of the queue is two edits, too, so that no transaction takes more of a request. */
    @AutoClose
    private final LectusServer server =
        LectusServer.start(faulty.store(), new TestSettings().oneExecutor(2).queue(8, 64 << 20));

    @BeforeEach
    void create() {
      server.put("/w");
    }

    private Answer writeSix() {
      String docs = "{'_id':'a'},{'_id':'b'},{'_id':'c'},{'_id':'d'},{'_id':'e'},{'_id':'f'}";
      return server.post("/w/_bulk_docs", ("{'docs':[" + docs + "]}").replace('\'', '"'));
    }

    @Test
    void what_is_stored_is_told_when_a_later_transaction_fails() {
      faulty.keepFailing(
          FaultyStore.onThreads("lectus-executor", List.of(Fault.NONE, Fault.IO_ERROR)));

      Answer answer = writeSix().expect(201);
      String failed = "\",\"error\":\"internal_server_error\",\"reason\":\"[^\"]+\"}";
      assertThat(answer.body())
          .matches(
              "\\[\\{\"ok\":true,\"id\":\"a\",[^}]+},\\{\"ok\":true,\"id\":\"b\",[^}]+},"
                  + ("\\{\"id\":\"c" + failed + ",")
                  + ("\\{\"id\":\"d" + failed + ",")
                  + ("\\{\"id\":\"e" + failed + ",")
                  + ("\\{\"id\":\"f" + failed + "]\n"));
      assertThat(server.get("/w").body()).contains("\"doc_count\":2,");
    }

    private Answer replicateSix() {
      String docs =
          Stream.of("a", "b", "c", "d", "e", "f")
              .map(id -> "{\"_id\":\"" + id + "\",\"_rev\":\"1-x\"}")
              .collect(Collectors.joining(","));
      return server.post("/w/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + docs + "]}");
    }

    @Test
    void a_replicators_request_fails_as_a_whole_when_a_later_transaction_does() {
      faulty.keepFailing(
          FaultyStore.onThreads("lectus-executor", List.of(Fault.NONE, Fault.IO_ERROR)));

      replicateSix().expect(500);
      assertThat(server.get("/w").body()).contains("\"doc_count\":2,");

      replicateSix().expect(201, "[]\n");
      assertThat(server.get("/w").body()).contains("\"doc_count\":6,");
    }

    @Test
    void a_request_of_which_nothing_is_stored_fails_as_a_whole() {
      faulty.keepFailing(FaultyStore.onThreads("lectus-executor", List.of(Fault.IO_ERROR)));

      writeSix().expect(500);
      assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
    }
  }
}
