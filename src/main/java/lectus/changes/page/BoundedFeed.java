package lectus.changes.page;

import java.util.Optional;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.database.UserContext;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;

/** The body of a normal feed that ends at a bound, or where a live feed would begin to wait. */
public final class BoundedFeed<P extends ResumePoint<P>> implements PagedBody {
  private final UserContext user;
  private LiveStart<P> start;
  private long limit;
  private boolean begun;
  private boolean hasRows;

  /**
   * @param start where it begins, and its bound
   * @param user who reads it; it fails once that is not allowed any more
   */
  public BoundedFeed(LiveStart<P> start, long limit, UserContext user) {
    this.user = user;
    this.start = start;
    this.limit = limit;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (!begun) {
      FeedText.appendHead(out);
      begun = true;
    }
    LivePage<P> page = start.page(Math.max(1, limit));
    if (!FeedRights.includes(page.readers(), user)) {
      throw new LectusException(user.notMember());
    }
    int shown = (int) Math.min(limit, page.rows().size());
    append(page.rows(), shown, out);
    limit -= shown;
    boolean whole = shown == page.rows().size();
    P position = whole ? page.next() : start.from();
    start = new LiveStart<>(start.source(), position, start.until());
    boolean more = whole && limit > 0 && !page.reachedEnd();
    if (!more) {
      long counted = page.pendingBehind(shown);
      long pending =
          counted == LivePage.NOT_COUNTED ? start.source().pendingBehind(position) : counted;
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
