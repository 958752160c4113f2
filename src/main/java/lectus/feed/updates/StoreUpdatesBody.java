package lectus.feed.updates;

import lectus.database.DatabaseUpdate;
import lectus.document.PagedBody;
import lectus.feed.FeedText;
import lectus.json.JsonBuffer;

/** The body of a normal feed of what happened to databases, assembled from pages. */
final class StoreUpdatesBody implements PagedBody {
  private final StoreUpdates updates;
  private final boolean descending;
  private StorePosition position;
  private StorePosition last;
  private long limit;
  private boolean hasBegun;
  private boolean hasRows;

  /**
   * @param from the position after which (before which, if newest first) the rows lie
   */
  StoreUpdatesBody(StoreUpdates updates, StorePosition from, long limit, boolean descending) {
    this.updates = updates;
    this.descending = descending;
    this.position = from;
    this.last = descending ? StorePosition.BEGINNING : from;
    this.limit = limit;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (!hasBegun) {
      FeedText.appendHead(out);
      hasBegun = true;
    }
    boolean more = limit > 0 && appendPage(out);
    if (!more) {
      FeedText.appendTail(last, 0, out);
    }
    return more;
  }

  private boolean appendPage(JsonBuffer out) {
    StoreUpdates.Page page =
        descending ? updates.pageBack(position, limit) : updates.page(position, limit);
    for (DatabaseUpdate row : page.rows()) {
      if (hasRows) {
        FeedText.appendSeparator(out);
      }
      StoreUpdates.append(row, out);
      hasRows = true;
    }
    position = page.next();
    last = page.rows().isEmpty() ? last : position;
    limit -= page.rows().size();
    return !page.reachedEnd() && limit > 0;
  }
}
