package lectus.feed.tail;

import lectus.feed.ResumePoint;
import lectus.feed.TailPage;

/**
 * Where the pages of a live tail go. Told on any thread, and of nothing more before it has taken
 * the last page; must not wait.
 */
public interface TailOutlet<P extends ResumePoint<P>> {

  /**
   * The next page; there is no gap to the one before.
   *
   * @param number counts up; see {@link TailSeat#start}
   * @param taken to be run once when the outlet is ready for another page, whatever became of this
   *     one
   */
  void deliver(TailPage<P> page, long number, Runnable taken);

  /** The source cannot be read; no page follows. */
  void fail(Throwable failure);
}
