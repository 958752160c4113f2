package lectus.changes.page;

/**
 * Reads everything new once, for all listeners of a tail, and produces each view's rows. Not
 * thread-safe; called on feed readers' threads, one at a time.
 */
public interface TailReader<P extends ResumePoint<P>> {

  /** Starts producing rows for this view, from the next page. */
  void add(View view);

  /** Stops producing rows for this view. Does nothing for a view that was never added. */
  void remove(View view);

  /**
   * Returns where a tail may begin: the position at which a listener has caught up, or an earlier
   * one if the source has not come that far, whatever the client claimed.
   */
  default P start(P at) {
    return at;
  }

  /** Reads what follows {@code from}, as much as one page holds, at one read version. */
  TailPage<P> page(P from);
}
