package lectus.changes.page;

import java.util.Optional;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.database.UserContext;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;

/** The body of a normal feed that ends at a bound, or where a live feed would begin to wait. */
public final class BoundedFeed<P extends ResumePoint<P>> implements PagedBody {
  private final LiveSource<P> source;
  private final UserContext user;
  private P position;
  private long limit;
  private boolean begun;
  private boolean hasRows;

  /**
   * @param start bounded by {@link LiveStart#until}
   * @param limit maximum number of rows
   * @param user who reads it; it fails once that is not allowed any more
   */
  public BoundedFeed(LiveStart<P> start, long limit, UserContext user) {
    this.user = user;
    this.source = start.source();
    this.position = start.from();
    this.limit = limit;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (!begun) {
      FeedText.appendHead(out);
      begun = true;
    }
    LivePage<P> page = source.page(position, Math.max(1, limit));
    if (!FeedRights.includes(page.readers(), user)) {
      throw new LectusException(user.notMember());
    }
    int shown = (int) Math.min(limit, page.rows().size());
    append(page.rows(), shown, out);
    limit -= shown;
    boolean whole = shown == page.rows().size();
    position = whole ? page.next() : position;
    boolean more = whole && limit > 0 && !page.reachedEnd();
    if (!more) {
      long counted = page.pendingBehind(shown);
      long pending = counted == LivePage.NOT_COUNTED ? source.pendingBehind(position) : counted;
      FeedText.appendTail(position, pending, whole ? page.end() : Optional.empty(), out);
    }
    return more;
  }

  private void append(Rows<P> rows, int count, JsonBuffer out) {
    for (int row = 0; row < count; row++) {
      if (hasRows) {
        FeedText.appendSeparator(out);
      }
      hasRows = true;
      out.raw(rows.json(), rows.start(row), rows.end(row));
    }
  }
}
