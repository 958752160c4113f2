package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.database.DatabaseName;
import lectus.document.edit.DocumentEdit;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.error.LectusException;
import lectus.http.Writes.Completion;
import org.junit.jupiter.api.Test;

final class WriteQueueTest {
  private static final DatabaseName A = DatabaseName.of("a");
  private static final DatabaseName B = DatabaseName.of("b");
  private static final Completion IGNORED =
      new Completion() {
        @Override
        public void written(List<EditOutcome> outcomes) {}

        @Override
        public void failed(Throwable failure) {}
      };

  private final WriteQueue queue = new WriteQueue(new WriteSettings(1, 10, 1_000, 4, 100));

  private static PendingWrite write(DatabaseName database, int edits, long bytes) {
    return write(database, edits, bytes, false);
  }

  private static PendingWrite write(DatabaseName database, int edits, long bytes, boolean atomic) {
    List<Edit> list = new ArrayList<>();
    IntStream.range(0, edits)
        .forEach(i -> list.add(DocumentEdit.deletion("d" + i, Optional.empty())));
    return new PendingWrite(database, list, atomic, bytes, IGNORED);
  }

  @Test
  void the_executor_is_nudged_once_until_it_sleeps_again() {
    assertThat(queue.offer(write(A, 1, 1))).isTrue();
    assertThat(queue.offer(write(A, 1, 1))).isFalse();
    assertThat(queue.take().writes()).hasSize(2);
    assertThat(queue.offer(write(A, 1, 1))).as("it is still awake").isFalse();
    assertThat(queue.take().writes()).hasSize(1);
    assertThat(queue.take()).isNull();
    assertThat(queue.offer(write(A, 1, 1))).isTrue();
  }

  @Test
  void a_batch_is_bounded_in_edits() {
    List<PendingWrite> writes = IntStream.range(0, 6).mapToObj(i -> write(A, 1, 1)).toList();
    writes.forEach(queue::offer);

    assertThat(queue.take().writes()).isEqualTo(writes.subList(0, 4));
    assertThat(queue.take().writes()).isEqualTo(writes.subList(4, 6));
  }

  @Test
  void a_batch_is_bounded_in_bytes() {
    PendingWrite fits = write(A, 1, 60);
    PendingWrite fitsToo = write(A, 1, 40);
    PendingWrite tooMuch = write(A, 1, 1);
    PendingWrite largeAlone = write(A, 1, 101);
    List.of(fits, fitsToo, tooMuch, largeAlone).forEach(queue::offer);

    assertThat(queue.take().writes()).containsExactly(fits, fitsToo);
    assertThat(queue.take().writes()).containsExactly(tooMuch);
    assertThat(queue.take().writes()).containsExactly(largeAlone);
  }

  @Test
  void databases_take_turns() {
    PendingWrite a1 = write(A, 4, 1);
    PendingWrite a2 = write(A, 1, 1);
    PendingWrite b = write(B, 1, 1);
    List.of(a1, a2, b).forEach(queue::offer);

    assertThat(queue.take().writes()).containsExactly(a1);
    assertThat(queue.take().writes()).containsExactly(b);
    assertThat(queue.take().writes()).containsExactly(a2);
  }

  @Test
  void an_atomic_write_is_alone() {
    PendingWrite before = write(A, 1, 1);
    PendingWrite atomic = write(A, 1, 1, true);
    PendingWrite after = write(A, 1, 1);
    List.of(before, atomic, after).forEach(queue::offer);

    assertThat(queue.take().writes()).containsExactly(before);
    WriteBatch alone = queue.take();
    assertThat(alone.writes()).containsExactly(atomic);
    assertThat(alone.atomic()).isTrue();
    assertThat(queue.take().writes()).containsExactly(after);
  }

  @Test
  void a_full_queue_refuses() {
    queue.offer(write(A, 9, 1));
    assertThatThrownBy(() -> queue.offer(write(B, 2, 1))).isInstanceOf(LectusException.class);
    queue.offer(write(B, 1, 1));
    assertThatThrownBy(() -> queue.offer(write(A, 1, 1))).isInstanceOf(LectusException.class);
    queue.take();
    queue.offer(write(A, 9, 1));
  }

  @Test
  void a_queue_that_holds_too_much_memory_refuses() {
    queue.offer(write(A, 1, 999));
    assertThatThrownBy(() -> queue.offer(write(A, 1, 2))).isInstanceOf(LectusException.class);
    queue.offer(write(A, 1, 1));
    queue.take();
    queue.take();
    queue.offer(write(A, 1, 1_000));
  }

  @Test
  void what_is_beyond_the_bounds_goes_when_nothing_else_waits() {
    PendingWrite large = write(A, 11, 5_000);

    assertThat(queue.offer(large)).isTrue();
    assertThat(queue.take().writes()).containsExactly(large);
  }

  @Test
  void each_request_gets_its_own_outcomes() {
    List<List<EditOutcome>> told = new ArrayList<>();
    Completion remember =
        new Completion() {
          @Override
          public void written(List<EditOutcome> outcomes) {
            told.add(List.copyOf(outcomes));
          }

          @Override
          public void failed(Throwable failure) {
            throw new AssertionError(failure);
          }
        };
    queue.offer(new PendingWrite(A, write(A, 2, 1).edits(), false, 1, remember));
    queue.offer(new PendingWrite(A, write(A, 1, 1).edits(), false, 1, remember));
    WriteBatch batch = queue.take();
    List<EditOutcome> outcomes =
        IntStream.range(0, 3)
            .<EditOutcome>mapToObj(i -> new EditOutcome.Withheld("d" + i))
            .toList();

    assertThat(batch.edits()).hasSize(3);
    batch.complete(outcomes);
    assertThat(told).containsExactly(outcomes.subList(0, 2), outcomes.subList(2, 3));
  }
}
