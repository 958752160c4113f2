package lectus.changes.page;

import java.util.Map;
import java.util.Optional;
import lectus.database.SecurityObject;

/**
 * One page of a live source, read at one read version. Immutable: many listeners share it.
 *
 * @param rows in the source's order, all after the point from which the page was read; may be empty
 *     before the end if a filter excluded everything
 * @param next where to continue: after the last entry examined, at or after the last row's point
 * @param reachedEnd whether nothing followed at the page's read version
 * @param pending how much followed, as {@code pending} counts: 0 exactly if the end was reached;
 *     {@link #NOT_COUNTED} if nobody has asked yet ({@link LiveSource#pendingBehind})
 * @param end why nothing will ever follow {@code next}; empty as long as something may
 * @param readers who may see it, as of its read version
 */
public record LivePage<P extends ResumePoint<P>>(
    Rows<P> rows,
    P next,
    boolean reachedEnd,
    long pending,
    Optional<FeedEnd> end,
    SecurityObject readers) {
  public static final long NOT_COUNTED = -1;

  /** Whoever reads it may see it. */
  public LivePage(Rows<P> rows, P next, boolean reachedEnd, long pending, Optional<FeedEnd> end) {
    this(rows, next, reachedEnd, pending, end, SecurityObject.EVERYBODY);
  }

  /** Returns how much follows the first rows. */
  public long pendingBehind(int shown) {
    return pending == NOT_COUNTED ? NOT_COUNTED : pending + rows.size() - shown;
  }

  /** Returns the page up to and including a bound, after which everything is over. */
  public LivePage<P> upTo(P bound) {
    int order = next.compareTo(bound);
    if (order < 0 || (order == 0 && end.isPresent())) {
      return this;
    }
    Rows<P> first = rows.first(rows.firstBehind(bound));
    Optional<FeedEnd> over = Optional.of(new FeedEnd.UntilReached());
    return new LivePage<>(
        first, order == 0 ? next : bound, true, pendingBehind(first.size()), over, readers);
  }

  /** Returns an empty page that says why there is nothing more. */
  public static <P extends ResumePoint<P>> LivePage<P> over(P at, FeedEnd why) {
    return new LivePage<>(Rows.none(), at, true, 0, Optional.of(why));
  }

  /** The content of a tail's page for one view. */
  public sealed interface ViewPage<P extends ResumePoint<P>> {

    /**
     * Rows of the view.
     *
     * @param rows at least one
     */
    record Shown<P extends ResumePoint<P>>(Rows<P> rows) implements ViewPage<P> {}

    /**
     * Producing the rows would cost the others too much: this view's listeners read the page
     * themselves.
     */
    record Crowded<P extends ResumePoint<P>>() implements ViewPage<P> {}

    /** The rows of this view cannot be determined. */
    record Failed<P extends ResumePoint<P>>(Throwable failure) implements ViewPage<P> {}
  }

  /**
   * The rows that one or more listeners of a tail see: listeners with the same rows share a view.
   * Compared by identity.
   *
   * @see LiveSource.Sharing
   */
  public static final class View {
    private final Object shows;

    public View(Object shows) {
      this.shows = shows;
    }

    /** Returns {@link LiveSource.Sharing#view}. */
    public Object shows() {
      return shows;
    }
  }

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

    public Rows<P> rows(View view) {
      return views.get(view) instanceof ViewPage.Shown<P> shown ? shown.rows() : Rows.none();
    }

    public LivePage<P> of(View view) {
      return withRows(rows(view));
    }

    public LivePage<P> withoutRows() {
      return withRows(Rows.none());
    }

    private LivePage<P> withRows(Rows<P> rows) {
      long pending = reachedEnd ? 0 : LivePage.NOT_COUNTED;
      return new LivePage<>(rows, next, reachedEnd, pending, end, readers);
    }
  }
}
