package lectus.feed;

import java.util.Optional;

/** Another source up to and with a bound, and then over: the parameter {@code until}. */
record BoundedSource<P extends ResumePoint<P>>(LiveSource<P> source, P last)
    implements LiveSource<P> {

  /** Everybody reads the same; the bound is each listener's own. */
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
  public Registration listen(Listener listener) {
    return source.listen(listener);
  }

  @Override
  public boolean hasNews(P position) {
    return source.hasNews(position);
  }
}
