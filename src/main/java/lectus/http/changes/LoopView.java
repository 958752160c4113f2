package lectus.http.changes;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import lectus.changes.notify.TailSeat;
import lectus.changes.page.LiveSource;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.TailPage;
import lectus.changes.page.View;

/** The listeners of one event loop that see the same view of a tail. For its event loop. */
final class LoopView<P extends ResumePoint<P>> {
  private final TailSeat<P> seat;
  private final LiveSource<P> source;

  /** In the order in which they joined; null in place of one that has left. */
  private final List<LiveListener<P>> listeners = new ArrayList<>();

  /** Listeners that read up to the view's start while the tail already reads the view. */
  private final Set<LiveListener<P>> coming = new LinkedHashSet<>();

  private int left;

  /** The position after which the tail has this view's rows; null until it is known. */
  private P start;

  LoopView(TailSeat<P> seat, LiveSource<P> source) {
    this.seat = seat;
    this.source = source;
    this.start = seat.start().orElse(null);
  }

  TailSeat<P> seat() {
    return seat;
  }

  View view() {
    return seat.view();
  }

  /** Returns the source of one of the listeners of this view. */
  LiveSource<P> source() {
    return source;
  }

  boolean isBegun() {
    return start != null;
  }

  /** Sets the start from the first page that came after the view was opened. */
  void begin(TailPage<P> page, long number) {
    start = seat.start(page, number);
  }

  /**
   * Starts after a page that the tail could not read for this view; later listeners get nothing of
   * it.
   */
  void beginBehind(TailPage<P> page) {
    start = page.next();
  }

  boolean covers(P position) {
    return start.compareTo(position) <= 0;
  }

  void expect(LiveListener<P> listener) {
    coming.add(listener);
  }

  List<LiveListener<P>> expected() {
    return List.copyOf(coming);
  }

  /** Returns the listener's place. */
  int add(LiveListener<P> listener) {
    coming.remove(listener);
    listeners.add(listener);
    return listeners.size() - 1;
  }

  /** Returns the number of places that may have listeners. */
  int places() {
    return listeners.size();
  }

  /** Returns null if the listener in this place has left. */
  LiveListener<P> at(int place) {
    return listeners.get(place);
  }

  void leave(int place) {
    listeners.set(place, null);
    left++;
  }

  void expectNoMore(LiveListener<P> listener) {
    coming.remove(listener);
  }

  boolean isEmpty() {
    return left == listeners.size() && coming.isEmpty();
  }

  /** Gives listeners new places when many have left. */
  void closeRanks() {
    if (left > listeners.size() / 2) {
      listeners.removeIf(listener -> listener == null);
      left = 0;
      for (int place = 0; place < listeners.size(); place++) {
        listeners.get(place).inTail().placed(place);
      }
    }
  }
}
