package lectus.feed;

/**
 * Reads everything that is new once, for all listeners of a tail, and tells for each view what is
 * to be seen of it. For one thread at a time, a feed reader's.
 */
public interface TailReader<P extends ResumePoint<P>> {

  /** From the next page on, rows for this view are wanted. */
  void add(View view);

  /** They are not wanted any more. Does nothing for a view that was never added. */
  void remove(View view);

  /**
   * Where a tail may begin: at a position at which a listener has caught up, or before it where the
   * source has not come so far yet, whatever the listener's client claimed.
   */
  default P start(P at) {
    return at;
  }

  /** What is behind {@code from}, as much as one page holds, read at one read version. */
  TailPage<P> page(P from);
}
