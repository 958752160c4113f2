package lectus.feed.page;

import lectus.database.Sequence;
import lectus.feed.RowsBuilder;

/** Writes bare rows, each with the position after it. */
record BareRows(RowsBuilder<FeedPosition> rows) implements RowFrame {
  @Override
  public void before(int row) {}

  @Override
  public void after(Sequence row) {
    rows.endRow(FeedPosition.after(row));
  }
}
