package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.Rows;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.database.Sequence;
import lectus.http.changes.LoopTail.TailWindow;
import org.junit.jupiter.api.Test;

/** Which pages of a tail are kept, and which readers they suffice for. */
final class TailWindowTest {
  private static final int LONGEST_KEPT = 1 << 20;

  private final View view = new View("all");
  private final TailWindow<FeedPosition> window = new TailWindow<>();

  private static FeedPosition at(int number) {
    return FeedPosition.after(Sequence.of(0, new byte[10], number));
  }

  /** Appends the page from one position to the next, with one row of this many bytes. */
  private void append(int from, int bytes) {
    RowsBuilder<FeedPosition> rows = new RowsBuilder<>(bytes);
    rows.json().ascii("x".repeat(bytes));
    rows.endRow(at(from + 1));
    append(from, Map.of(view, new ViewPage.Shown<>(rows.build())));
  }

  private void append(int from, Map<View, ViewPage<FeedPosition>> rows) {
    window.append(new TailPage<>(at(from), rows, at(from + 1), true, Optional.empty()));
  }

  @Test
  void it_begins_with_the_first_page() {
    assertThat(window.covers(FeedPosition.BEGINNING)).as("there is nothing to miss").isTrue();
    append(3, 10);
    assertThat(window.covers(at(2))).isFalse();
    assertThat(window.covers(at(3))).isTrue();
    assertThat(window.pagesBehind(at(3))).hasSize(1);
    assertThat(window.pagesBehind(at(4))).isEmpty();
  }

  @Test
  void it_keeps_the_last_page_and_so_many_bytes() {
    append(0, TailWindow.MAX_BYTES / 2);
    append(1, TailWindow.MAX_BYTES / 2);
    assertThat(window.covers(at(0))).isTrue();
    append(2, 1);
    assertThat(window.covers(at(0))).isFalse();
    assertThat(window.covers(at(1))).isTrue();
    append(3, 10 * TailWindow.MAX_BYTES);
    assertThat(window.covers(at(2))).isFalse();
    assertThat(window.covers(at(3))).isTrue();
  }

  @Test
  void a_long_page_is_not_kept() {
    append(0, 1);
    append(1, LONGEST_KEPT);
    assertThat(window.covers(at(1))).isTrue();
    append(2, LONGEST_KEPT + 1);
    assertThat(window.covers(at(2))).isFalse();
    assertThat(window.covers(at(3))).isTrue();
    assertThat(window.pagesBehind(at(1))).isEmpty();
  }

  @Test
  void it_keeps_so_many_pages() {
    for (int i = 0; i < TailWindow.MAX_PAGES; i++) {
      append(i, 1);
    }
    assertThat(window.covers(at(0))).isTrue();
    append(TailWindow.MAX_PAGES, 1);
    assertThat(window.covers(at(0))).isFalse();
    assertThat(window.covers(at(1))).isTrue();
  }

  @Test
  void pages_in_which_nothing_is_shown_are_not_kept() {
    append(0, 1);
    for (int i = 1; i < 3 * TailWindow.MAX_PAGES; i++) {
      append(i, Map.of());
    }
    assertThat(window.covers(at(0))).isTrue();
    assertThat(window.pagesBehind(at(0))).hasSize(1);
  }

  @Test
  void equal_rows_of_several_views_count_once() {
    RowsBuilder<FeedPosition> builder = new RowsBuilder<>(1);
    builder.json().ascii("x".repeat(TailWindow.MAX_BYTES / 3));
    builder.endRow(at(1));
    Rows<FeedPosition> rows = builder.build();
    ViewPage<FeedPosition> shown = new ViewPage.Shown<>(rows);
    append(
        0, Map.of(view, shown, new View("b"), shown, new View("c"), shown, new View("d"), shown));
    append(1, TailWindow.MAX_BYTES / 3);
    assertThat(window.covers(at(0))).isTrue();
  }
}
