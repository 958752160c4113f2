package lectus.feed.tail;

import lectus.feed.LivePage;
import lectus.feed.ResumePoint;

/**
 * Where the pages of a live tail go. Told on any thread, and of nothing more before it has taken
 * the last page; must not wait and must not throw.
 */
public interface TailOutlet<P extends ResumePoint<P>> {

  /**
   * The next page; there is no gap to the one before.
   *
   * @param taken to be run once when the outlet is ready for another page, whatever became of this
   *     one
   */
  void deliver(LivePage<P> page, Runnable taken);

  /** The source cannot be read; no page follows. */
  void fail(Throwable failure);
}
