package lectus.feed;

import java.util.Optional;

/**
 * One page of a live source, read at one read version. Immutable: many listeners share it.
 *
 * @param rows in the source's order, all behind the point from which the page was read; there may
 *     be none although the end is not reached, where a filter let none through
 * @param next where to go on: behind the last thing looked at, at or behind the last row's point
 * @param reachedEnd whether nothing followed at the page's read version
 * @param pending what followed, as {@code pending} counts: 0 if the end was reached and never else
 * @param end why nothing will ever follow behind {@code next}; empty as long as something may
 */
public record LivePage<P extends ResumePoint<P>>(
    Rows<P> rows, P next, boolean reachedEnd, long pending, Optional<FeedEnd> end) {

  /** There is nothing more, and why. */
  public static <P extends ResumePoint<P>> LivePage<P> over(P at, FeedEnd why) {
    return new LivePage<>(Rows.none(), at, true, 0, Optional.of(why));
  }
}
