package lectus.changes.page;

import java.util.Optional;

/**
 * A source, and where one listener begins in it.
 *
 * @param from what {@code since} said; {@code now} has been looked up in the store
 */
public record LiveStart<P extends ResumePoint<P>>(LiveSource<P> source, P from) {

  /** Returns the same start up to and including a bound, after which the source is over. */
  public LiveStart<P> until(P bound) {
    return new LiveStart<>(new BoundedSource<>(source, bound), from);
  }

  /** Ends another source at a bound, which is included: the parameter {@code until}. */
  private record BoundedSource<P extends ResumePoint<P>>(LiveSource<P> source, P last)
      implements LiveSource<P> {

    /** All listeners read the same source; each has its own bound. */
    @Override
    public Optional<Sharing<P>> sharing() {
      return source.sharing();
    }

    @Override
    public Optional<P> bound() {
      return Optional.of(last);
    }

    @Override
    public LivePage<P> page(P from, long rows) {
      return from.compareTo(last) >= 0
          ? LivePage.over(from, new FeedEnd.UntilReached())
          : source.page(from, rows).upTo(last);
    }

    @Override
    public long pendingBehind(P position) {
      return source.pendingBehind(position);
    }

    @Override
    public Optional<RowFilling> filling() {
      return source.filling();
    }

    @Override
    public Registration listen(Listener listener) {
      return source.listen(listener);
    }

    @Override
    public boolean mayHaveEnds(P position) {
      return source.mayHaveEnds(position);
    }

    @Override
    public boolean hasNews(P position) {
      return source.hasNews(position);
    }
  }
}
