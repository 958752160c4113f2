package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.server.WriteQueue.WriteSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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
}
