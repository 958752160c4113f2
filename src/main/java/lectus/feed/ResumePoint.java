package lectus.feed;

/**
 * Where a reader of a live source goes on: behind this point. Ordered as the source's rows are.
 *
 * @param <P> the points of one kind of source; those of different kinds are not comparable
 */
public interface ResumePoint<P extends ResumePoint<P>> extends Comparable<P> {

  /** As {@code last_seq}, {@code since} and {@code at} have it: {@code 0} at the beginning. */
  String text();

  /** Whether feeds with such points tell how much follows. */
  default boolean tellsPending() {
    return true;
  }
}
