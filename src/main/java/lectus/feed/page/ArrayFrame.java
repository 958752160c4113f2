package lectus.feed.page;

import lectus.database.Sequence;
import lectus.feed.FeedText;
import lectus.json.JsonBuffer;

/** Writes rows as elements of an array. The caller writes the separator between pages. */
record ArrayFrame(JsonBuffer out) implements RowFrame {
  @Override
  public void before(int row) {
    if (row > 0) {
      FeedText.appendSeparator(out);
    }
  }

  @Override
  public void after(Sequence row) {}
}
