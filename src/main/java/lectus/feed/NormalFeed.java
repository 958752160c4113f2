package lectus.feed;

import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/**
 * The body of a normal feed, stitched from pages (RFC 003, Access Patterns): each document at least
 * once, and its last row tells its state at the end. Ends with the first page that reaches the end
 * at its own read version.
 *
 * <p>Newest first, a document that is updated meanwhile moves behind the reader and may be missed.
 */
final class NormalFeed implements PagedBody {
  private final ChangesReader changes;
  private final DatabaseReads reads;
  private final FeedOptions options;
  private final Since since;
  private final boolean descending;
  private FeedPosition position;
  private long limit;
  private boolean hasRows;

  NormalFeed(
      ChangesReader changes,
      DatabaseReads reads,
      FeedOptions options,
      Since since,
      long limit,
      boolean descending) {
    this.changes = changes;
    this.reads = reads;
    this.options = options;
    this.since = since;
    this.limit = limit;
    this.descending = descending;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (position == null) {
      position = descending ? FeedPosition.BEGINNING : changes.position(reads, since);
      FeedText.appendHead(out);
    }
    int beforeSeparator = out.length();
    if (hasRows) {
      FeedText.appendSeparator(out);
    }
    FeedPage page = changes.page(reads, options, position, limit, descending, out);
    if (page.rows() == 0) {
      out.truncate(beforeSeparator);
    }
    position = page.next();
    limit -= page.rows();
    hasRows |= page.rows() > 0;
    boolean more = !page.reachedEnd() && limit > 0;
    if (!more) {
      FeedText.appendTail(position, page.pending(), out);
    }
    return more;
  }
}
