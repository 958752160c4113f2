package lectus.http.changes;

import lectus.changes.page.ResumePoint;
import lectus.http.changes.LoopTail.LoopView;

/**
 * The place of a listener in the live tail that reads for it, if there is one. For its event loop.
 */
final class TailPlace<P extends ResumePoint<P>> {
  private static final int COMING = -1;

  /** The tail that reads for the listener; null while it reads on its own. */
  private LoopTail<P> tail;

  private LoopView<P> view;

  /**
   * The place among the listeners of the same view; {@link #COMING} while the listener reads up to
   * the view's start.
   */
  private int place;

  /**
   * Notes that the tail reads for the listener from now on; it joins once it has reached the view's
   * start.
   */
  void comesTo(LoopTail<P> tail, LoopView<P> view) {
    this.tail = tail;
    this.view = view;
    this.place = COMING;
  }

  /**
   * @param place to be given when it leaves; the last one counts
   */
  void placed(int place) {
    this.place = place;
  }

  LoopView<P> view() {
    return view;
  }

  boolean hasJoined() {
    return tail != null && place != COMING;
  }

  boolean isIn(LoopTail<P> other) {
    return tail == other && place != COMING;
  }

  /**
   * Returns how far rows were looked at for a listener that has received those up to {@code
   * position}.
   */
  P reached(P position) {
    if (tail == null || place == COMING || tail.end() == null) {
      return position;
    }
    P end = tail.end().compareTo(position) > 0 ? tail.end() : position;
    return view.seat().quietTo(end);
  }

  void leave(LiveListener<P> listener) {
    if (tail != null) {
      LoopTail<P> left = tail;
      tail = null;
      if (place == COMING) {
        left.expectNoMore(listener, view);
      } else {
        left.leave(listener, view, place);
      }
    }
  }
}
