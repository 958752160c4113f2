package lectus.http.live;

import io.vertx.core.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.ResumePoint;
import lectus.feed.tail.LiveTails;
import lectus.feed.tail.TailOutlet;
import lectus.feed.tail.TailWindow;
import lectus.http.exchange.Offload;

/**
 * One event loop's share of a live tail: a page comes to the loop once and is handed to all
 * listeners there that have caught up. It lasts until the last of them has left. For its event
 * loop, but for what it is told as a {@link TailOutlet}.
 */
final class LoopTail<P extends ResumePoint<P>> implements TailOutlet<P> {
  /** Listeners handed a page in one turn of the event loop; requests are served between turns. */
  private static final int LISTENERS_A_TURN = 100;

  private static final long LONGEST_REST_MILLIS = 20;

  private final LiveTails tails;
  private final LiveSource<P> source;
  private final Context context;
  private final Runnable whenOver;

  /** In the order in which they joined; null in the place of one that has left. */
  private final List<LiveListener<P>> listeners = new ArrayList<>();

  private TailWindow<P> window;
  private int left;

  /** Whether places must stay what they are, because a page is on its way through the listeners. */
  private boolean delivering;

  /**
   * @param context of the event loop
   * @param whenOver is run when the last listener has left, or none could join
   */
  LoopTail(LiveTails tails, LiveSource<P> source, Context context, Runnable whenOver) {
    this.tails = tails;
    this.source = source;
    this.context = context;
    this.whenOver = whenOver;
  }

  LiveSource<P> source() {
    return source;
  }

  /**
   * Hands a listener everything behind its position: what is in the window at once, the rest as it
   * comes.
   *
   * @return false if its position lies before the window, so that it has to read on its own
   */
  boolean join(LiveListener<P> listener) {
    if (window == null && !begin(listener.position())) {
      whenOver.run();
      return false;
    }
    if (!window.covers(listener.position())) {
      return false;
    }
    listener.joined(this, listeners.size());
    listeners.add(listener);
    for (LivePage<P> page : window.pagesBehind(listener.position())) {
      if (listener.isIn(this)) {
        listener.take(page);
      }
    }
    return true;
  }

  private boolean begin(P at) {
    window = tails.attach(source, at, this).orElse(null);
    return window != null;
  }

  /** How far the tail has come on this event loop. */
  P end() {
    return window.end();
  }

  /** Whether all who ever joined have left. */
  private boolean isOver() {
    return window == null;
  }

  /**
   * @param place the one the listener was told last
   */
  void leave(int place) {
    listeners.set(place, null);
    left++;
    if (!delivering) {
      closeRanks();
    }
  }

  private void closeRanks() {
    if (left == listeners.size()) {
      window = null;
      tails.detach(source, this);
      whenOver.run();
    } else if (left > listeners.size() / 2) {
      listeners.removeIf(listener -> listener == null);
      left = 0;
      for (int place = 0; place < listeners.size(); place++) {
        listeners.get(place).joined(this, place);
      }
    }
  }

  @Override
  public void deliver(LivePage<P> page, Runnable taken) {
    Offload.post(context, () -> handOut(page, 0, System.nanoTime(), taken));
  }

  /** Who joins meanwhile gets the page, too: it enters the window behind the last listener. */
  private void handOut(LivePage<P> page, int from, long startNanos, Runnable taken) {
    boolean matters = !page.rows().isEmpty() || page.end().isPresent();
    int to = matters ? Math.min(from + LISTENERS_A_TURN, listeners.size()) : listeners.size();
    try {
      if (matters) {
        toEach(from, to, listener -> listener.take(page));
      }
    } finally {
      if (to < listeners.size()) {
        Offload.post(context, () -> handOut(page, to, startNanos, taken));
      } else {
        finish(page);
        // Behind what the sockets flush, which is work of the loop, too.
        Offload.post(context, () -> rest(startNanos, taken));
      }
    }
  }

  private void finish(LivePage<P> page) {
    delivered();
    if (!isOver()) {
      window.append(page);
    }
  }

  /**
   * Half of the time belongs to others. Rows that come meanwhile make one page, whose delivery
   * costs little more than that of one row.
   */
  private void rest(long startNanos, Runnable taken) {
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    if (tookMillis == 0) {
      taken.run();
    } else {
      long pause = Math.min(tookMillis, LONGEST_REST_MILLIS);
      context.owner().setTimer(pause, id -> taken.run());
    }
  }

  @Override
  public void fail(Throwable failure) {
    Offload.post(
        context,
        () -> {
          try {
            toEach(0, listeners.size(), listener -> listener.fail(failure));
          } finally {
            delivered();
          }
        });
  }

  private interface Step<P extends ResumePoint<P>> {
    void take(LiveListener<P> listener);
  }

  private void toEach(int from, int to, Step<P> step) {
    delivering = true;
    for (int place = from; place < to; place++) {
      LiveListener<P> listener = listeners.get(place);
      if (listener != null) {
        guarded(listener, step);
      }
    }
  }

  private void delivered() {
    delivering = false;
    if (left > 0 && !isOver()) {
      closeRanks();
    }
  }

  /** What goes wrong with one listener does not concern the others. */
  private static <P extends ResumePoint<P>> void guarded(LiveListener<P> listener, Step<P> step) {
    try {
      step.take(listener);
    } catch (RuntimeException e) {
      listener.fail(e);
    }
  }
}
