package lectus.feed;

import lectus.database.Sequence;

/** Bare rows, each with the position behind it. */
record RowsFrame(RowsBuilder<FeedPosition> rows) implements RowFrame {
  @Override
  public void before(int row) {}

  @Override
  public void after(Sequence row) {
    rows.endRow(FeedPosition.after(row));
  }
}
