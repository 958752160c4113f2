package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.document.edit.DocumentEdit;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.http.Writes.Completion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that cannot take what became of their edits, for a lack of memory, say. */
final class OutcomesTest {
  private static final DatabaseName DATABASE = DatabaseName.of("a");
  private static final List<Edit> EDIT = List.of(DocumentEdit.deletion("d", Optional.empty()));
  private static final List<EditOutcome> OUTCOME = List.of(new EditOutcome.Withheld("d"));

  private final List<String> told = new ArrayList<>();
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void stop() {
    vertx.close().await();
  }

  /** Notes what it is told. */
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
    WriteBatch batch =
        new WriteBatch(List.of(write("a", true), write("b", false), write("c", true)));

    batch.complete(List.of(OUTCOME.get(0), OUTCOME.get(0), OUTCOME.get(0)));
    assertThat(told).containsExactly("a written", "b failed: injected", "c written");

    told.clear();
    batch.fail(new IllegalStateException("lost"));
    assertThat(told).containsExactly("a failed: lost", "b failed: lost", "c failed: lost");
  }

  @Test
  void one_with_many_edits_fails_once() {
    WriteQueue queue = new WriteQueue(new WriteSettings(1, 10, 1_000, 4, 100));
    WriteRouter router =
        new WriteRouter(vertx.eventBus(), List.of(queue), 4, Duration.ofMinutes(1));

    router.writeAll(DATABASE, EDIT, 1, new Request("b", told, false));
    queue.take().complete(OUTCOME);

    assertThat(told).containsExactly("b failed: injected");
  }
}
