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
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.server.WriteQueue.WriteSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What of a long request goes into the queue at once, which always takes four edits. */
final class BulkSlicesTest {
  private static final WriteSettings SETTINGS = new WriteSettings(1, 1_000, 100_000, 4, 1_000);

  private static final Completion IGNORED =
      new Completion() {
        @Override
        public void written(List<EditOutcome> outcomes) {}

        @Override
        public void failed(Throwable failure) {}
      };

  private final Vertx vertx = Vertx.vertx();
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
                        "d", RevisionPath.of(RevisionId.of("1-" + i)), false, ExplodedBody.empty()))
            .toList();
    assertThat(sizes(edits)).containsExactly(16, 4);
  }
}
