package lectus.changes.page;

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

  /**
   * Returns how much follows the first rows.
   *
   * @param shown the number of these rows
   */
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
}
