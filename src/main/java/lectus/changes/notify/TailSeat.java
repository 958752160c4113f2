package lectus.changes.notify;

import java.util.Optional;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.TailPage;
import lectus.changes.page.View;

/** An outlet's claim to one view of a tail, until it leaves. */
public final class TailSeat<P extends ResumePoint<P>> {
  private final LiveTail<P> tail;
  private final View view;
  private final long firstPage;
  private final Optional<P> start;

  /**
   * @param firstPage the number of the first page that certainly has the view's rows
   * @param start the position after which they come, if known
   */
  TailSeat(LiveTail<P> tail, View view, long firstPage, Optional<P> start) {
    this.tail = tail;
    this.view = view;
    this.firstPage = firstPage;
    this.start = start;
  }

  LiveTail<P> tail() {
    return tail;
  }

  /** Returns how far an outlet has come that was handed everything up to a position. */
  public P quietTo(P position) {
    return tail.quietTo(position);
  }

  public View view() {
    return view;
  }

  /**
   * Returns the position after which the view's rows come; empty if only the next page can tell.
   */
  public Optional<P> start() {
    return start;
  }

  /** Returns the same, from the first page that reaches the outlet after it took the seat. */
  public P start(TailPage<P> page, long number) {
    return number < firstPage ? page.next() : page.from();
  }
}
