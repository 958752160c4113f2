package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

/** Requests that cannot take the outcomes of their edits, for example for lack of memory. */
final class OutcomesTest {
  private static final DatabaseName DATABASE = DatabaseName.of("a");
  private static final List<Edit> EDIT = List.of(InteractiveEdit.deletion("d", Optional.empty()));
  private static final List<EditOutcome> OUTCOME = List.of(new EditOutcome.Withheld("d"));

  private final List<String> told = new ArrayList<>();
  private final Vertx vertx = Vertx.vertx();

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
        new QueuedBatch(List.of(write("a", true), write("b", false), write("c", true)));

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
}
