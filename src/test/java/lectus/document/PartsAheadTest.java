package lectus.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class PartsAheadTest {
  private final List<String> done = new ArrayList<>();
  private final ReadAhead readAhead = new ReadAhead();

  @Test
  void without_help_the_one_who_takes_does_all_in_order() {
    Queue<Runnable> never = new ArrayDeque<>();
    PartsAhead<Integer> parts = parts(new PartsAhead<>(never::add));

    assertThat(List.of(parts.take(), parts.take(), parts.take())).containsExactly(0, 1, 2);
    never.forEach(Runnable::run);
    assertThat(done).as("once each").containsExactly("part 0", "part 1", "part 2");
  }

  @Test
  void what_a_helper_has_done_is_not_done_again() {
    Queue<Runnable> helpers = new ArrayDeque<>();
    PartsAhead<Integer> parts = parts(new PartsAhead<>(helpers::add));
    helpers.forEach(Runnable::run);

    assertThat(done).containsExactly("part 1", "part 2");
    assertThat(List.of(parts.take(), parts.take(), parts.take())).containsExactly(0, 1, 2);
    assertThat(done).containsExactly("part 1", "part 2", "part 0");
  }

  @Test
  void while_a_helper_is_at_the_first_part_the_next_is_done() throws Exception {
    CountDownLatch helping = new CountDownLatch(1);
    CountDownLatch nextDone = new CountDownLatch(1);
    ExecutorService helper = Executors.newSingleThreadExecutor();
    try {
      PartsAhead<String> parts = new PartsAhead<>(helper);
      parts.add(() -> "first");
      parts.add(
          () -> {
            helping.countDown();
            nextDone.await();
            return "helped with";
          });
      parts.add(
          () -> {
            nextDone.countDown();
            return Thread.currentThread().getName();
          });
      assertThat(parts.take()).isEqualTo("first");
      helping.await();

      assertThat(parts.take()).isEqualTo("helped with");
      assertThat(parts.take()).isEqualTo(Thread.currentThread().getName());
    } finally {
      helper.shutdownNow();
    }
  }

  @Test
  void helpers_that_are_too_busy_are_not_needed() {
    PartsAhead<Integer> parts =
        parts(
            new PartsAhead<>(
                part -> {
                  throw new RejectedExecutionException();
                }));

    assertThat(List.of(parts.take(), parts.take(), parts.take())).containsExactly(0, 1, 2);
  }

  @Test
  void what_a_part_fails_with_is_told_to_who_takes_it() {
    PartsAhead<Integer> parts = new PartsAhead<>(Runnable::run);
    parts.add(() -> 0);
    parts.add(
        () -> {
          throw new IllegalArgumentException("broken");
        });

    assertThat(parts.take()).isZero();
    assertThatThrownBy(parts::take)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("broken");
  }

  @Test
  void what_is_cancelled_is_not_begun() {
    Queue<Runnable> helpers = new ArrayDeque<>();
    PartsAhead<Integer> parts = parts(new PartsAhead<>(helpers::add));
    parts.cancel();
    helpers.forEach(Runnable::run);

    assertThat(done).isEmpty();
    assertThat(parts.size()).isZero();
  }

  @Test
  void helpers_that_never_come_hold_nothing_of_what_is_done() {
    Queue<Runnable> never = new ArrayDeque<>();
    PartsAhead<byte[]> parts = new PartsAhead<>(never::add);
    int partBytes = 16 << 20;
    long done = 0;
    while (done < 3 * Runtime.getRuntime().maxMemory()) {
      parts.add(() -> new byte[partBytes]);
      parts.add(() -> new byte[partBytes]);
      done += parts.take().length;
      done += parts.take().length;
    }

    assertThat(never).as("each second part was offered").hasSize((int) (done / partBytes / 2));
  }

  private PartsAhead<Integer> parts(PartsAhead<Integer> parts) {
    for (int i = 0; i < 3; i++) {
      int number = i;
      parts.add(
          () -> {
            done.add("part " + number);
            return number;
          });
    }
    return parts;
  }

  @Test
  void begins_with_some_bodies_of_unknown_size() {
    assertThat(readAhead.size()).isEqualTo(50);
  }

  @Test
  void follows_the_size_of_the_last_bodies() {
    readAhead.took(2, 600);
    assertThat(readAhead.size()).isEqualTo(64);

    readAhead.took(16, 16 * 64 * 1024);
    assertThat(readAhead.size()).isEqualTo(4);

    readAhead.took(4, 4_000_000);
    assertThat(readAhead.size()).isEqualTo(1);
  }

  @Test
  void expects_that_the_next_are_as_the_last() {
    assertThat(readAhead.fitting(0)).isPositive();

    readAhead.took(2, 600);
    assertThat(readAhead.fitting(899)).isEqualTo(2);
    assertThat(readAhead.fitting(900)).isEqualTo(3);
    assertThat(readAhead.fitting(-1)).isZero();
  }

  @Test
  void rows_without_a_body_count_as_small_ones() {
    readAhead.took(1, 0);

    assertThat(readAhead.size()).isEqualTo(64);
  }
}
