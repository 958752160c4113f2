package lectus.changes.page;

/**
 * The position after which a reader of a live source continues. Points are ordered like the
 * source's rows.
 *
 * @param <P> the points of one kind of source; points of different kinds are not comparable
 */
public interface ResumePoint<P extends ResumePoint<P>> extends Comparable<P> {

  /**
   * Returns the text used in {@code last_seq}, {@code since} and {@code at}: {@code 0} at the
   * beginning.
   */
  String text();

  /** Returns the version of the commit at or in which it lies; 0 at the beginning. */
  long commitVersion();

  /** Whether feeds with such points tell how much follows. */
  default boolean tellsPending() {
    return true;
  }
}
