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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The answer to a request whose parts fail in different ways. */
final class BulkFailuresTest {
  private static final DatabaseName DATABASE = DatabaseName.of("a");
  private static final WriteSettings SETTINGS = new WriteSettings(2, 100, 1_000, 100, 1_000);

  private final Vertx vertx = Vertx.vertx();
  private final List<WriteQueue> queues =
      Stream.generate(() -> new WriteQueue(SETTINGS)).limit(2).toList();
  private final WriteRouter router =
      new WriteRouter(vertx.eventBus(), queues, 100, Duration.ofMinutes(1));
  private final List<Throwable> failures = new ArrayList<>();

  @AfterEach
  void stop() {
    vertx.close().await();
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
