package lectus.http.live;

import lectus.feed.ResumePoint;

/** Where a listener is in the live tail that reads for it, if it is in one. For its event loop. */
final class TailPlace<P extends ResumePoint<P>> {
  private static final int COMING = -1;

  /** The tail that reads what the listener wants to see; null while that reads on its own. */
  private LoopTail<P> tail;

  private LoopView<P> view;

  /** Among those who see the same; {@link #COMING} while it reads up to where the tail began. */
  private int place;

  /** The tail reads for it from now on; it will join when it has come to where that begins. */
  void comesTo(LoopTail<P> tail, LoopView<P> view) {
    this.tail = tail;
    this.view = view;
    this.place = COMING;
  }

  /**
   * @param place to be told when it leaves; the last one told counts
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

  /** How far rows were looked at for a listener that was handed those up to {@code position}. */
  P reached(P position) {
    boolean moves = tail != null && place != COMING && tail.end() != null;
    return moves && tail.end().compareTo(position) > 0 ? tail.end() : position;
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
