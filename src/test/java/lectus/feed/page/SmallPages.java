package lectus.feed.page;

import lectus.document.PageLimits;
import lectus.feed.FeedRights;
import lectus.feed.testing.FeedDatabase;

/** Readers with smaller pages than usual. */
final class SmallPages {
  private SmallPages() {}

  static ChangesReader of(FeedDatabase db, int rows, int bytes) {
    return new ChangesReader(
        db.catalogue, db.transactions, FeedRights.DEFAULT, new PageLimits(rows, rows, bytes));
  }
}
