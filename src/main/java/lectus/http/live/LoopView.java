package lectus.http.live;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import lectus.feed.LiveSource;
import lectus.feed.ResumePoint;
import lectus.feed.TailPage;
import lectus.feed.View;
import lectus.feed.tail.TailSeat;

/** The listeners of one event loop who see the same view of a tail. For its event loop. */
final class LoopView<P extends ResumePoint<P>> {
  private final TailSeat<P> seat;
  private final LiveSource<P> source;

  /** In the order in which they joined; null in the place of one that has left. */
  private final List<LiveListener<P>> listeners = new ArrayList<>();

  /** Those for whom the view is read already while they read up to where it begins. */
  private final Set<LiveListener<P>> coming = new LinkedHashSet<>();

  private int left;

  /** Behind which the tail has this view's rows; null until that is known. */
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

  /** One of those that have this view. */
  LiveSource<P> source() {
    return source;
  }

  boolean isBegun() {
    return start != null;
  }

  /** Tells where it begins by the first page that comes after it was opened. */
  void begin(TailPage<P> page, long number) {
    start = seat.start(page, number);
  }

  /** Of a page that the tail could not read for this view nothing is handed to who comes later. */
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

  /** Its place. */
  int add(LiveListener<P> listener) {
    coming.remove(listener);
    listeners.add(listener);
    return listeners.size() - 1;
  }

  /** Places up to here may have listeners. */
  int places() {
    return listeners.size();
  }

  /** Null if the listener in this place has left. */
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
