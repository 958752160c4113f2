package lectus.changes.notify;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.ResumePoint;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/** The live tails of a server, one for all sources that are read together. Thread-safe. */
public final class TailRegistry implements Measured {
  private final Executor readers;
  private final Map<Object, LiveTail<?>> tails = new ConcurrentHashMap<>();

  public TailRegistry(Executor readers) {
    this.readers = readers;
  }

  /**
   * Sends the outlet what a source delivers, until it leaves the seat.
   *
   * @param at where a listener has caught up
   */
  public <P extends ResumePoint<P>> TailSeat<P> attach(
      Sharing<P> sharing, P at, TailOutlet<P> outlet) {
    AtomicReference<TailSeat<P>> seat = new AtomicReference<>();
    tails.compute(
        sharing.tail(),
        (identity, known) -> {
          if (known != null) {
            seat.set(TailRegistry.<P>typed(known).attach(outlet, sharing.view()));
          }
          if (seat.get() != null) {
            return known;
          }
          LiveTail<P> fresh =
              new LiveTail<>(identity, sharing.news(), sharing.reader().get(), at, readers);
          seat.set(fresh.attach(outlet, sharing.view()));
          return fresh;
        });
    return seat.get();
  }

  /**
   * Gives the outlet another view of the tail in which it has a seat; returns null if that is over.
   */
  public <P extends ResumePoint<P>> TailSeat<P> attach(
      TailSeat<P> beside, Sharing<P> sharing, TailOutlet<P> outlet) {
    return beside.tail().attach(outlet, sharing.view());
  }

  public <P extends ResumePoint<P>> void leave(TailSeat<P> seat, TailOutlet<P> outlet) {
    LiveTail<P> left = seat.tail();
    tails.compute(
        left.identity(),
        (identity, known) -> left.leave(outlet, seat.view()) && known == left ? null : known);
  }

  public int size() {
    return tails.size();
  }

  /** Sources that are read together have the same kind of points. */
  @SuppressWarnings("unchecked")
  private static <P extends ResumePoint<P>> LiveTail<P> typed(LiveTail<?> tail) {
    return (LiveTail<P>) tail;
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_feed_tails", "Live tails, each read once for all.", tails::size);
  }

  /** An outlet's claim to one view of a tail, until it leaves. */
  public static final class TailSeat<P extends ResumePoint<P>> {
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

  /**
   * Receives the pages of a live tail. Called on any thread, but not again before it has taken the
   * last page. Must not wait.
   */
  public interface TailOutlet<P extends ResumePoint<P>> {

    /**
     * Delivers the next page, without a gap to the previous one.
     *
     * @param number counts up; see {@link TailRegistry.TailSeat#start}
     * @param taken run it once when the outlet is ready for another page, whatever happened to this
     *     one
     */
    void deliver(TailPage<P> page, long number, Runnable taken);

    /** The source cannot be read; no page follows. */
    void fail(Throwable failure);
  }
}
