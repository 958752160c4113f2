package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import lectus.database.DatabaseHandle;
import lectus.feed.Rows;
import lectus.feed.RowsBuilder;
import lectus.feed.View;
import lectus.feed.ViewPage;
import lectus.feed.filter.PassingEntries.Passing;

/** The rows of one page that look alike, and which views see which of them. */
final class ShapeRows {
  private static final int FIRST_CAPACITY = 512;

  private final RowsBuilder<FeedPosition> rows = new RowsBuilder<>(FIRST_CAPACITY);
  private final RowWriter writer;
  private final Deque<RowWriter.Started> started = new ArrayDeque<>();
  private final Map<View, IntStream.Builder> seen = new LinkedHashMap<>();

  ShapeRows(ReadTransaction tx, DatabaseHandle db, FeedOptions shape) {
    this.writer = new RowWriter(tx, db, shape, rows.json());
  }

  /**
   * Starts the reads that a row needs beyond its entry. Rows are appended or skipped in this order.
   */
  void start(Passing row) {
    started.add(writer.start(row));
  }

  /**
   * Leaves nothing behind of a row that cannot be written.
   *
   * @throws RuntimeException why the row's document could not be read, or why the transaction has
   *     to be retried
   */
  void append(List<View> who) {
    RowWriter.Started row = started.remove();
    int number = rows.size();
    int begin = bytes();
    try {
      writer.append(row, true);
    } catch (RuntimeException failure) {
      rows.json().truncate(begin);
      throw failure;
    }
    rows.endRow(FeedPosition.after(row.passing().entry().sequence()));
    who.forEach(view -> seen.computeIfAbsent(view, none -> IntStream.builder()).add(number));
  }

  void passOver() {
    started.remove();
  }

  int bytes() {
    return rows.json().length();
  }

  /** Gives views with the same rows the same object. */
  void build(Map<View, ViewPage<FeedPosition>> pages) {
    Rows<FeedPosition> all = rows.build();
    Map<List<Integer>, ViewPage<FeedPosition>> equal = new HashMap<>();
    seen.forEach(
        (view, numbers) -> {
          int[] chosen = numbers.build().toArray();
          pages.put(
              view,
              equal.computeIfAbsent(
                  IntStream.of(chosen).boxed().toList(),
                  none -> new ViewPage.Shown<>(all.only(chosen))));
        });
  }
}
