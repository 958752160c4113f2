package lectus.feed.page;

import lectus.database.Sequence;
import lectus.feed.RowsBuilder;

/** Bare rows, each with the position behind it. */
record RowsFrame(RowsBuilder<FeedPosition> rows) implements RowFrame {
  @Override
  public void before(int row) {}

  @Override
  public void after(Sequence row) {
    rows.endRow(FeedPosition.after(row));
  }
}
