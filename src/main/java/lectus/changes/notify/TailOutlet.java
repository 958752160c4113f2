package lectus.changes.notify;

import lectus.changes.page.ResumePoint;
import lectus.changes.page.TailPage;

/**
 * Receives the pages of a live tail. Called on any thread, but not again before it has taken the
 * last page. Must not wait.
 */
public interface TailOutlet<P extends ResumePoint<P>> {

  /**
   * Delivers the next page, without a gap to the previous one.
   *
   * @param number counts up; see {@link TailSeat#start}
   * @param taken run it once when the outlet is ready for another page, whatever happened to this
   *     one
   */
  void deliver(TailPage<P> page, long number, Runnable taken);

  /** The source cannot be read; no page follows. */
  void fail(Throwable failure);
}
