package lectus.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.json.JsonBuffer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class RowPartsTest {
  private static final int PART_BYTES = 128 << 10;
  private static final Executor NOBODY = part -> {};

  @AutoClose("shutdownNow")
  private final ExecutorService helpers = Executors.newFixedThreadPool(2);

  private final List<Integer> wrote = Collections.synchronizedList(new ArrayList<>());
  private final List<Integer> appended = new ArrayList<>();
  private final JsonBuffer page = new JsonBuffer(16);
  private final List<String> done = new ArrayList<>();
  private final ReadAhead readAhead = new ReadAhead();

  @Test
  void rows_keep_their_order_whoever_writes_them() {
    List<Integer> rows = IntStream.range(0, 5_000).boxed().toList();

    append(helpers, Integer.MAX_VALUE, rows, row -> 20 + row % 300);

    assertThat(appended).isEqualTo(rows);
    assertThat(page.toString())
        .isEqualTo(
            rows.stream()
                .map(row -> "<" + letters(row, 20 + row % 300) + ">")
                .collect(Collectors.joining()));
    assertThat(wrote).as("each row once").hasSameSizeAs(rows);
  }

  @Test
  void a_page_ends_behind_the_row_that_fills_it() {
    for (int fullAt : new int[] {1, 1_001, 1_002, 1_003, 100_200, 100_201}) {
      page.truncate(0);
      appended.clear();

      append(helpers, fullAt, IntStream.range(0, 1_000).boxed().toList(), row -> 1_000);

      int expected = (fullAt + 1_001) / 1_002;
      assertThat(appended).as("full at " + fullAt).hasSize(expected);
      assertThat(page.length()).isEqualTo(expected * 1_002);
    }
  }

  @Test
  void nothing_is_added_to_a_full_page() {
    page.ascii("full");

    append(NOBODY, 4, List.of(1, 2), row -> 10);

    assertThat(appended).isEmpty();
    assertThat(page.toString()).isEqualTo("full");
  }

  @Test
  void what_fits_into_a_part_is_written_once() {
    int[] sizes = {10, 10, PART_BYTES - 20};

    append(NOBODY, Integer.MAX_VALUE, List.of(0, 1, 2), row -> sizes[row]);

    assertThat(wrote).containsExactly(0, 1, 2);
    assertThat(page.length()).isEqualTo(PART_BYTES + 6);
  }

  @Test
  void what_does_not_is_written_again_into_the_page() {
    int[] sizes = {10, 10, PART_BYTES + 1, 10, 3 * PART_BYTES, 10};

    append(NOBODY, Integer.MAX_VALUE, List.of(0, 1, 2, 3, 4, 5), row -> sizes[row]);

    assertThat(appended).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(wrote).containsExactly(0, 1, 2, 2, 3, 4, 4, 5);
    assertThat(page.length()).isEqualTo(4 * PART_BYTES + 41 + 12);
  }

  @Test
  void rows_behind_one_that_does_not_fit_are_written_together_again() {
    AtomicInteger parts = new AtomicInteger();
    List<Integer> rows = IntStream.range(0, 60).boxed().toList();
    try (RowParts<Integer> written =
        new RowParts<>(
            NOBODY,
            page,
            Integer.MAX_VALUE,
            (part, to) -> {
              parts.incrementAndGet();
              for (int row : part) {
                to.json().ascii(letters(row, 5_000));
                to.endRow();
              }
            })) {
      written.append(rows.iterator(), new Brackets());
    }

    assertThat(appended).isEqualTo(rows);
    assertThat(parts).hasValueLessThan(12);
  }

  @Test
  void rows_behind_what_fills_the_page_are_not_written() {
    append(NOBODY, 50_000, IntStream.range(0, 1_000).boxed().toList(), row -> 10_000);

    assertThat(appended).hasSize(5);
    assertThat(wrote).hasSizeLessThan(10);
  }

  @Test
  void a_failure_reaches_the_one_who_makes_the_page() {
    assertThatThrownBy(
            () ->
                append(
                    helpers,
                    Integer.MAX_VALUE,
                    IntStream.range(0, 2_000).boxed().toList(),
                    row -> {
                      if (row == 1_700) {
                        throw new IllegalStateException("row 1700");
                      }
                      return 100;
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("row 1700");
  }

  private interface Sizes {
    int of(int row);
  }

  private void append(Executor executor, int fullAt, List<Integer> rows, Sizes sizes) {
    RowParts.Writing<Integer> writing =
        (part, to) -> {
          for (int row : part) {
            wrote.add(row);
            to.json().ascii(letters(row, sizes.of(row)));
            to.endRow();
          }
        };
    try (RowParts<Integer> parts = new RowParts<>(executor, page, fullAt, writing)) {
      parts.append(rows.iterator(), new Brackets());
    }
  }

  private final class Brackets implements RowParts.Frame<Integer> {
    @Override
    public void before(Integer row) {
      page.octet('<');
    }

    @Override
    public void after(Integer row) {
      page.octet('>');
      appended.add(row);
    }
  }

  private static String letters(int row, int count) {
    return String.valueOf((char) ('a' + row % 26)).repeat(count);
  }

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
