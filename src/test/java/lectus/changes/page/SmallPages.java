package lectus.changes.page;

import lectus.changes.testing.FeedDatabase;
import lectus.document.RowParts.PageLimits;

/** Readers with smaller pages than usual. */
final class SmallPages {
  private SmallPages() {}

  static ChangesReader of(FeedDatabase db, int rows, int bytes) {
    return new ChangesReader(
        db.catalogue, db.transactions, FeedRights.DEFAULT, new PageLimits(rows, rows, bytes));
  }
}
