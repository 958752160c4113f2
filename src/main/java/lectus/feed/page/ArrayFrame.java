package lectus.feed.page;

import lectus.database.Sequence;
import lectus.feed.FeedText;
import lectus.json.JsonBuffer;

/** Rows as elements of an array. Between pages the caller writes the separator. */
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
