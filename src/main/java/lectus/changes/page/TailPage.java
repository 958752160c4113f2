package lectus.changes.page;

import java.util.Map;
import java.util.Optional;
import lectus.database.SecurityObject;

/**
 * One page of a tail, read at one read version. Immutable: many listeners share it.
 *
 * @param from the position after which it was read
 * @param views the page's content for each view that has any
 * @param next where everybody continues: after the last entry examined
 * @param reachedEnd whether nothing followed at the page's read version
 * @param end why nothing will ever follow {@code next}; empty as long as something may
 * @param readers who may see it, as of its read version
 */
public record TailPage<P extends ResumePoint<P>>(
    P from,
    Map<View, ViewPage<P>> views,
    P next,
    boolean reachedEnd,
    Optional<FeedEnd> end,
    SecurityObject readers) {

  /** Whoever listens may see it. */
  public TailPage(
      P from, Map<View, ViewPage<P>> views, P next, boolean reachedEnd, Optional<FeedEnd> end) {
    this(from, views, next, reachedEnd, end, SecurityObject.EVERYBODY);
  }

  /** Returns the rows of a view; often none. */
  public Rows<P> rows(View view) {
    return views.get(view) instanceof ViewPage.Shown<P> shown ? shown.rows() : Rows.none();
  }

  /** Returns the page as seen by the listeners of one view. */
  public LivePage<P> of(View view) {
    return withRows(rows(view));
  }

  /** Returns the page as seen by listeners for whom it has nothing. */
  public LivePage<P> withoutRows() {
    return withRows(Rows.none());
  }

  private LivePage<P> withRows(Rows<P> rows) {
    long pending = reachedEnd ? 0 : LivePage.NOT_COUNTED;
    return new LivePage<>(rows, next, reachedEnd, pending, end, readers);
  }
}
