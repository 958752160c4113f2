package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusException;
import lectus.server.WriteQueue.WriteSettings;
import org.junit.jupiter.api.Test;

final class WriteQueueTest {
  private static final DatabaseName A = DatabaseName.of("a");
  private static final DatabaseName B = DatabaseName.of("b");

  private record Ignored(boolean isAwaited) implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {}

    @Override
    public void failed(Throwable failure) {}
  }

  private int serial;

  private final WriteQueue queue = new WriteQueue(new WriteSettings(1, 10, 1_000, 4, 100));

  /** Returns a write of documents that no other write contains. */
  private PendingWrite write(DatabaseName database, int edits, long bytes) {
    return write(database, edits, bytes, false);
  }

  private PendingWrite write(DatabaseName database, int edits, long bytes, boolean atomic) {
    String[] ids = IntStream.range(0, edits).mapToObj(i -> "d" + serial++).toArray(String[]::new);
    return write(database, bytes, atomic, ids);
  }

  private static PendingWrite write(
      DatabaseName database, long bytes, boolean atomic, String... ids) {
    List<Edit> edits = new ArrayList<>();
    for (String id : ids) {
      edits.add(InteractiveEdit.deletion(id, Optional.empty()));
    }
    return new PendingWrite(database, edits, atomic, bytes, new Ignored(false));
  }

  private static PendingWrite of(String... ids) {
    return write(A, 1, false, ids);
  }

  /** Returns what the next transaction writes; null if none is to begin. */
  static QueuedBatch begun(WriteQueue queue) {
    QueuedBatch batch = queue.take();
    if (batch != null) {
      queue.done(batch, 0);
    }
    return batch;
  }

  /** Returns the writes of the next transaction, which is over at once. */
  private List<PendingWrite> next() {
    QueuedBatch batch = begun(queue);
    queue.release(batch);
    return batch.writes();
  }

  @Test
  void the_executor_is_nudged_once_until_it_sleeps_again() {
    assertThat(queue.offer(write(A, 1, 1))).isTrue();
    assertThat(queue.offer(write(A, 1, 1))).isFalse();
    assertThat(next()).hasSize(2);
    assertThat(queue.offer(write(A, 1, 1))).as("it is still awake").isFalse();
    assertThat(next()).hasSize(1);
    assertThat(begun(queue)).isNull();
    assertThat(queue.offer(write(A, 1, 1))).isTrue();
  }

  @Test
  void a_batch_is_bounded_in_edits() {
    List<PendingWrite> writes = IntStream.range(0, 6).mapToObj(i -> write(A, 1, 1)).toList();
    writes.forEach(queue::offer);

    assertThat(next()).isEqualTo(writes.subList(0, 4));
    assertThat(next()).isEqualTo(writes.subList(4, 6));
  }

  @Test
  void a_batch_is_bounded_in_bytes() {
    PendingWrite fits = write(A, 1, 60);
    PendingWrite fitsToo = write(A, 1, 40);
    PendingWrite tooMuch = write(A, 1, 1);
    PendingWrite largeAlone = write(A, 1, 101);
    List.of(fits, fitsToo, tooMuch, largeAlone).forEach(queue::offer);

    assertThat(next()).containsExactly(fits, fitsToo);
    assertThat(next()).containsExactly(tooMuch);
    assertThat(next()).containsExactly(largeAlone);
  }

  @Test
  void databases_take_turns() {
    PendingWrite a1 = write(A, 4, 1);
    PendingWrite a2 = write(A, 1, 1);
    PendingWrite b = write(B, 1, 1);
    List.of(a1, a2, b).forEach(queue::offer);

    assertThat(next()).containsExactly(a1);
    assertThat(next()).containsExactly(b);
    assertThat(next()).containsExactly(a2);
  }

  @Test
  void a_database_that_had_the_thread_for_long_stands_behind_those_that_had_not() {
    List<DatabaseName> costly =
        IntStream.range(0, 4).mapToObj(i -> DatabaseName.of("c" + i)).toList();
    costly.forEach(db -> queue.offer(write(db, 1, 1)));
    for (int i = 0; i < costly.size(); i++) {
      QueuedBatch batch = queue.take();
      queue.done(batch, 50_000_000);
      queue.release(batch);
    }
    costly.forEach(db -> queue.offer(write(db, 1, 1)));
    PendingWrite cheap = write(A, 1, 1);
    queue.offer(cheap);

    assertThat(next()).containsExactly(cheap);
    assertThat(next()).as("nothing is lost").hasSize(1);
  }

  @Test
  void what_goes_on_in_several_transactions_takes_turns() {
    List.of(write(A, 1, 1), write(B, 1, 1)).forEach(queue::offer);
    QueuedBatch ofA = begun(queue);
    QueuedBatch ofB = begun(queue);
    assertThat(queue.take()).isNull();

    assertThat(queue.comeBack(ofA)).as("the executor sleeps").isTrue();
    assertThat(goesOn(50_000_000)).isSameAs(ofA);
    queue.comeBack(ofA);
    queue.comeBack(ofB);
    assertThat(goesOn(1)).isSameAs(ofB);
    assertThat(goesOn(1)).isSameAs(ofA);

    PendingWrite another = write(A, 1, 1);
    queue.offer(another);
    assertThat(next()).as("it does not wait for those").containsExactly(another);
  }

  @Test
  void few_writes_of_a_database_go_on_in_several_transactions_at_a_time() {
    for (int i = 0; i < 8; i++) {
      queue.offer(write(A, 1, 1));
      QueuedBatch batch = begun(queue);
      queue.comeBack(batch);
      assertThat(goesOn(1)).isSameAs(batch);
    }
    queue.offer(write(A, 1, 1));
    assertThat(queue.take()).isNull();
    PendingWrite other = write(B, 1, 1);
    queue.offer(other);
    assertThat(next()).containsExactly(other);
  }

  @Test
  void what_is_planned_counts_for_what_may_be_in_flight_until_it_is_stored() {
    queue.offer(write(A, 1, 1));
    QueuedBatch wide = begun(queue);
    queue.plan(wide, 249);
    queue.offer(write(B, 1, 1));
    assertThat(begun(queue)).as("250 of 1 000 bytes").isNull();

    queue.comeBack(wide);
    assertThat(begun(queue).database()).isEqualTo(B);
  }

  @Test
  void what_goes_on_and_full_transactions_that_begin_take_turns() {
    queue.offer(write(A, 1, 1));
    QueuedBatch lost = begun(queue);
    List.of(write(A, 4, 1), write(A, 4, 1)).forEach(queue::offer);

    queue.comeBack(lost);
    assertThat(goesOn(1)).isSameAs(lost);
    queue.comeBack(lost);
    assertThat(begun(queue)).as("they have their turn, too").isNotSameAs(lost).isNotNull();
    assertThat(goesOn(1)).isSameAs(lost);
    assertThat(begun(queue)).isNotSameAs(lost).isNotNull();
  }

  @Test
  void a_database_whose_next_transaction_cannot_be_made_keeps_its_place() {
    AtomicBoolean fails = new AtomicBoolean(true);
    List<Edit> edit = write(A, 1, 1).edits();
    List<Edit> failing =
        new AbstractList<>() {
          @Override
          public Edit get(int index) {
            if (fails.get()) {
              throw new OutOfMemoryError("injected");
            }
            return edit.get(index);
          }

          @Override
          public int size() {
            return edit.size();
          }
        };
    PendingWrite write = new PendingWrite(A, failing, false, 1, new Ignored(false));
    queue.offer(write);
    assertThatThrownBy(queue::take).isInstanceOf(OutOfMemoryError.class);

    fails.set(false);
    assertThat(next()).containsExactly(write);
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void a_transaction_that_could_not_go_on_counts_for_none_that_does() {
    queue.offer(write(A, 1, 200));
    QueuedBatch failed = begun(queue);
    QueuedBatch nowhere = new QueuedBatch(null, failed.writes());
    assertThatThrownBy(() -> queue.comeBack(nowhere)).isInstanceOf(RuntimeException.class);
    queue.release(failed);

    queue.offer(write(A, 1, 250));
    queue.offer(write(B, 1, 1));
    assertThat(begun(queue)).isNotNull();
    assertThat(begun(queue)).as("250 of 1 000 bytes").isNull();
  }

  @Test
  void databases_that_wait_are_not_looked_through_while_nothing_may_begin() {
    WriteQueue roomy = roomyWith(0, 0);
    for (int i = 0; i < WriteQueue.MAX_IN_FLIGHT + 1_000; i++) {
      roomy.offer(write(DatabaseName.of("db" + i), 1, 1));
    }
    for (int i = 0; i < WriteQueue.MAX_IN_FLIGHT; i++) {
      assertThat(begun(roomy)).isNotNull();
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    QueuedBatch batch = roomy.take();
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(batch).isNull();
    assertThat(allocated).as("a list of the databases has 4 000 bytes").isLessThan(1_000);
  }

  /** Returns the batch that goes on next. */
  private QueuedBatch goesOn(long nanos) {
    QueuedBatch batch = queue.take();
    assertThat(batch.goesOn()).isTrue();
    queue.done(batch, nanos);
    return batch;
  }

  @Test
  void an_atomic_write_is_alone() {
    PendingWrite before = write(A, 1, 1);
    PendingWrite atomic = write(A, 1, 1, true);
    PendingWrite after = write(A, 1, 1);
    List.of(before, atomic, after).forEach(queue::offer);

    assertThat(next()).containsExactly(before);
    QueuedBatch alone = begun(queue);
    assertThat(alone.writes()).containsExactly(atomic);
    assertThat(alone.atomic()).isTrue();
    queue.release(alone);
    assertThat(next()).containsExactly(after);
  }

  @Test
  void a_full_queue_refuses() {
    queue.offer(write(A, 9, 1));
    assertThatThrownBy(() -> queue.offer(write(B, 2, 1))).isInstanceOf(LectusException.class);
    queue.offer(write(B, 1, 1));
    assertThatThrownBy(() -> queue.offer(write(A, 1, 1))).isInstanceOf(LectusException.class);
    begun(queue);
    queue.offer(write(A, 9, 1));
  }

  @Test
  void a_queue_that_holds_too_much_memory_refuses() {
    queue.offer(write(A, 1, 999));
    assertThatThrownBy(() -> queue.offer(write(A, 1, 2))).isInstanceOf(LectusException.class);
    queue.offer(write(A, 1, 1));
    next();
    next();
    queue.offer(write(A, 1, 1_000));
  }

  /** Its memory is counted with its request. */
  @Test
  void a_write_that_a_client_waits_for_is_not_refused_for_memory() {
    queue.offer(write(A, 1, 1_000));
    List<Edit> edits = write(A, 1, 1).edits();
    queue.offer(new PendingWrite(A, edits, false, 2, new Ignored(true)));
    queue.requireRoom(8, 0);
    assertThatThrownBy(() -> queue.requireRoom(9, 0)).isInstanceOf(LectusException.class);
  }

  @Test
  void what_is_beyond_the_bounds_goes_when_nothing_else_waits() {
    PendingWrite large = write(A, 11, 5_000);

    assertThat(queue.offer(large)).isTrue();
    assertThat(next()).containsExactly(large);
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
    QueuedBatch batch = begun(queue);
    List<EditOutcome> outcomes =
        IntStream.range(0, 3)
            .<EditOutcome>mapToObj(i -> new EditOutcome.Withheld("d" + i))
            .toList();

    assertThat(batch.edits()).hasSize(3);
    batch.complete(outcomes);
    assertThat(told).containsExactly(outcomes.subList(0, 2), outcomes.subList(2, 3));
  }

  @Test
  void a_document_in_flight_waits_and_nothing_overtakes_what_waits_for_it() {
    PendingWrite first = of("a");
    PendingWrite second = of("a", "b");
    PendingWrite third = of("b", "c");
    PendingWrite fourth = of("c");
    PendingWrite free = of("d");
    List.of(first, second, third, fourth, free).forEach(queue::offer);

    QueuedBatch batch = begun(queue);
    assertThat(batch.writes()).containsExactly(first, free);
    assertThat(begun(queue)).as("all others wait").isNull();
    assertThat(queue.release(batch)).as("the executor sleeps").isTrue();
    assertThat(next()).containsExactly(second);
    assertThat(next()).containsExactly(third);
    assertThat(next()).containsExactly(fourth);
    assertThat(queue.isIdle()).isTrue();
  }

  /** It is looked at only while all that waits is blocked. */
  @Test
  void a_write_that_is_not_added_for_lack_of_memory_leaves_no_trace() {
    queue.offer(of("a"));
    QueuedBatch batch = begun(queue);
    queue.offer(write(A, 1, true, "a"));
    assertThat(begun(queue)).isNull();
    List<Edit> noMemory =
        new AbstractList<>() {
          @Override
          public Edit get(int index) {
            throw new OutOfMemoryError("injected");
          }

          @Override
          public int size() {
            return 1;
          }
        };
    PendingWrite failing = new PendingWrite(A, noMemory, false, 1, new Ignored(false));
    assertThatThrownBy(() -> queue.offer(failing)).isInstanceOf(OutOfMemoryError.class);

    queue.release(batch);
    assertThat(next()).hasSize(1);
    assertThat(begun(queue)).isNull();
  }

  @Test
  void documents_of_the_same_name_in_other_databases_do_not_wait() {
    PendingWrite other = write(B, 1, false, "a");
    List.of(of("a"), other).forEach(queue::offer);

    begun(queue);
    assertThat(begun(queue).writes()).containsExactly(other);
  }

  @Test
  void what_waits_for_a_document_in_flight_wakes_nobody_until_it_has_come_back() {
    queue.offer(of("a"));
    QueuedBatch batch = begun(queue);
    assertThat(begun(queue)).isNull();

    assertThat(queue.offer(of("a"))).isFalse();
    assertThat(queue.release(batch)).isTrue();
    assertThat(begun(queue).writes()).hasSize(1);
  }

  @Test
  void writes_of_a_database_gather_while_one_is_in_flight_until_they_fill_a_transaction() {
    queue.offer(write(A, 1, 1));
    QueuedBatch first = begun(queue);
    queue.offer(write(A, 3, 1));
    assertThat(begun(queue)).as("there is room for one more").isNull();

    assertThat(queue.offer(write(A, 1, 1))).as("the executor sleeps").isTrue();
    assertThat(begun(queue).size()).isEqualTo(4);
    assertThat(queue.offer(write(A, 1, 100))).as("as many bytes as a batch takes").isFalse();
    assertThat(begun(queue).size()).isEqualTo(1);
    queue.offer(write(A, 1, 1, true));
    assertThat(begun(queue).atomic()).as("nothing joins an atomic write").isTrue();

    queue.offer(write(A, 1, 1));
    assertThat(begun(queue)).isNull();
    assertThat(queue.release(first)).as("others are still in flight").isFalse();
  }

  @Test
  void so_many_transactions_are_in_flight_at_most() {
    List<QueuedBatch> flying = new ArrayList<>();
    for (int i = 0; i < WriteQueue.MAX_IN_FLIGHT; i++) {
      queue.offer(write(DatabaseName.of("db" + i), 1, 1));
      flying.add(begun(queue));
    }
    assertThat(flying).doesNotContainNull();
    assertThat(queue.offer(write(A, 1, 1))).as("it is awake").isFalse();
    assertThat(begun(queue)).isNull();
    assertThat(queue.offer(write(B, 1, 1))).as("it would find nothing").isFalse();

    assertThat(queue.release(flying.get(0))).isTrue();
    assertThat(begun(queue)).isNotNull();
    assertThat(begun(queue)).isNull();
  }

  @Test
  void what_is_in_flight_holds_a_quarter_of_the_memory_at_most() {
    queue.offer(write(A, 1, 249));
    queue.offer(write(B, 1, 1));
    QueuedBatch large = begun(queue);
    assertThat(begun(queue)).as("249 of 1 000 bytes").isNotNull();

    queue.offer(write(DatabaseName.of("c"), 1, 1));
    assertThat(begun(queue)).as("250 of 1 000 bytes").isNull();
    assertThat(queue.release(large)).isTrue();
    assertThat(begun(queue)).isNotNull();
  }

  @Test
  void what_is_in_flight_counts_as_memory() {
    queue.offer(write(A, 1, 200));
    begun(queue);
    queue.offer(write(A, 1, 700));
    assertThatThrownBy(() -> queue.offer(write(A, 1, 101))).isInstanceOf(LectusException.class);
    queue.offer(write(A, 1, 100));
  }

  @Test
  void a_queue_that_is_closed_says_when_nothing_is_left() {
    queue.offer(of("a"));
    QueuedBatch batch = begun(queue);
    assertThat(begun(queue)).isNull();
    assertThat(queue.isIdle()).isFalse();
    queue.close();

    assertThat(queue.release(batch)).isTrue();
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void a_long_request_hands_over_more_at_once_while_the_queue_is_nearly_empty() {
    assertThat(roomyWith(0, 0).slice(64, 100)).isEqualTo(256);
    assertThat(roomyWith(256, 1).slice(64, 100)).isEqualTo(256);
    assertThat(roomyWith(257, 1).slice(64, 100)).isEqualTo(64);
    assertThat(roomyWith(1_000, 1).slice(300, 1)).isEqualTo(1_000);
    assertThat(roomyWith(1_001, 1).slice(300, 1)).isEqualTo(300);
    assertThat(roomyWith(1, 100_000).slice(64, 100)).isEqualTo(256);
    assertThat(roomyWith(1, 100_001).slice(64, 100)).isEqualTo(64);
  }

  @Test
  void what_is_in_flight_counts_for_the_size_of_slices() {
    WriteQueue roomy = roomyWith(1, 100_001);
    QueuedBatch inFlight = begun(roomy);
    assertThat(roomy.slice(64, 100)).isEqualTo(64);

    roomy.release(inFlight);
    assertThat(roomy.slice(64, 100)).isEqualTo(256);
  }

  @Test
  void a_wide_slice_holds_no_more_than_a_batch() {
    assertThat(roomyWith(0, 0).slice(64, 195)).isEqualTo(256);
    assertThat(roomyWith(0, 0).slice(64, 500)).isEqualTo(100);
    assertThat(roomyWith(0, 0).slice(64, 5_000)).isEqualTo(64);
    assertThat(roomyWith(0, 0).slice(64, 0)).isEqualTo(256);
    assertThat(queue.slice(4, 1)).isEqualTo(4);
  }

  @Test
  void a_wide_slice_is_one_transaction() {
    WriteQueue vast = new WriteQueue(new WriteSettings(1, 100_000, 64 << 20, 1_000, 4 << 20));
    assertThat(vast.slice(500, 1)).isEqualTo(2_000);
    assertThat(vast.slice(501, 1)).isEqualTo(2_000);
    assertThat(vast.slice(1_000, 1)).isEqualTo(2_000);
  }

  /** A queue with a quarter for wide slices, of 1 000 edits and 100 000 bytes. */
  private WriteQueue roomyWith(int edits, long bytes) {
    WriteQueue roomy = new WriteQueue(new WriteSettings(1, 4_000, 400_000, 64, 50_000));
    if (edits > 0) {
      roomy.add(write(A, edits, bytes));
    }
    return roomy;
  }
}
