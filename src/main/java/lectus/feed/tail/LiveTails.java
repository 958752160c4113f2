package lectus.feed.tail;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import lectus.feed.LiveSource;
import lectus.feed.ResumePoint;

/** The live tails of a server, one for each identity of a source. For any thread. */
public final class LiveTails {
  private final Executor readers;
  private final Map<Object, LiveTail<?>> tails = new ConcurrentHashMap<>();

  /**
   * @param readers runs the reading of pages
   */
  public LiveTails(Executor readers) {
    this.readers = readers;
  }

  /**
   * Gives the outlet what a source has to tell behind {@code at}, until it is detached.
   *
   * @param source has an identity; the tail reads it, or another one with the same identity
   * @return what the tail has read before; empty if {@code at} lies before it, so that the outlet
   *     is not attached
   */
  public <P extends ResumePoint<P>> Optional<TailWindow<P>> attach(
      LiveSource<P> source, P at, TailOutlet<P> outlet) {
    AtomicReference<Optional<TailWindow<P>>> window = new AtomicReference<>();
    tails.compute(
        source.identity().orElseThrow(),
        (identity, known) -> {
          LiveTail<P> tail = known == null ? new LiveTail<>(source, readers) : typed(known);
          window.set(tail.attach(outlet, at));
          return tail;
        });
    return window.get();
  }

  public <P extends ResumePoint<P>> void detach(LiveSource<P> source, TailOutlet<P> outlet) {
    tails.computeIfPresent(
        source.identity().orElseThrow(),
        (identity, tail) -> LiveTails.<P>typed(tail).detach(outlet) ? null : tail);
  }

  /** How many tails are being read. */
  public int size() {
    return tails.size();
  }

  /** Sources of one identity have the same kind of points. */
  @SuppressWarnings("unchecked")
  private static <P extends ResumePoint<P>> LiveTail<P> typed(LiveTail<?> tail) {
    return (LiveTail<P>) tail;
  }
}
