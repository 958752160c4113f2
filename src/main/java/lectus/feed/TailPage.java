package lectus.feed;

import java.util.Map;
import java.util.Optional;

/**
 * One page of a tail, read at one read version. Immutable: many listeners share it.
 *
 * @param from behind which it was read
 * @param views of each view for which there is something, what that is
 * @param next where to go on, for everybody: behind the last thing looked at
 * @param reachedEnd whether nothing followed at the page's read version
 * @param end why nothing will ever follow behind {@code next}; empty as long as something may
 */
public record TailPage<P extends ResumePoint<P>>(
    P from, Map<View, ViewPage<P>> views, P next, boolean reachedEnd, Optional<FeedEnd> end) {

  /** The rows for a view; often none. */
  public Rows<P> rows(View view) {
    return views.get(view) instanceof ViewPage.Shown<P> shown ? shown.rows() : Rows.none();
  }

  /** As a page for those who see one view. */
  public LivePage<P> of(View view) {
    return withRows(rows(view));
  }

  /** As a page for those for whom there is nothing in it. */
  public LivePage<P> withoutRows() {
    return withRows(Rows.none());
  }

  private LivePage<P> withRows(Rows<P> rows) {
    long pending = reachedEnd ? 0 : LivePage.NOT_COUNTED;
    return new LivePage<>(rows, next, reachedEnd, pending, end);
  }
}
