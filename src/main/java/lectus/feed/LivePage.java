package lectus.feed;

import java.util.Optional;

/**
 * One page of a live source, read at one read version. Immutable: many listeners share it.
 *
 * @param rows in the source's order, all behind the point from which the page was read; there may
 *     be none although the end is not reached, where a filter let none through
 * @param next where to go on: behind the last thing looked at, at or behind the last row's point
 * @param reachedEnd whether nothing followed at the page's read version
 * @param pending what followed, as {@code pending} counts: 0 if the end was reached and never else;
 *     {@link #NOT_COUNTED} where nobody has asked yet ({@link LiveSource#pendingBehind})
 * @param end why nothing will ever follow behind {@code next}; empty as long as something may
 */
public record LivePage<P extends ResumePoint<P>>(
    Rows<P> rows, P next, boolean reachedEnd, long pending, Optional<FeedEnd> end) {
  public static final long NOT_COUNTED = -1;

  /**
   * What follows the first of its rows.
   *
   * @param shown so many rows
   */
  public long pendingBehind(int shown) {
    return pending == NOT_COUNTED ? NOT_COUNTED : pending + rows.size() - shown;
  }

  /** The same up to and with a bound, behind which everything is over. */
  public LivePage<P> upTo(P bound) {
    int order = next.compareTo(bound);
    if (order < 0 || order == 0 && end.isPresent()) {
      return this;
    }
    Rows<P> first = rows.first(rows.firstBehind(bound));
    Optional<FeedEnd> over = Optional.of(new FeedEnd.UntilReached());
    return new LivePage<>(
        first, order == 0 ? next : bound, true, pendingBehind(first.size()), over);
  }

  /** There is nothing more, and why. */
  public static <P extends ResumePoint<P>> LivePage<P> over(P at, FeedEnd why) {
    return new LivePage<>(Rows.none(), at, true, 0, Optional.of(why));
  }
}
