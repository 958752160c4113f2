package lectus.feed;

import java.util.Optional;

/** Another source up to and with a bound, and then over: the parameter {@code until}. */
record BoundedSource<P extends ResumePoint<P>>(LiveSource<P> source, P bound)
    implements LiveSource<P> {

  private record Identity(Object source, ResumePoint<?> bound) {}

  @Override
  public Optional<Object> identity() {
    return source.identity().map(inner -> new Identity(inner, bound));
  }

  @Override
  public LivePage<P> page(P from, long limit) {
    if (from.compareTo(bound) >= 0) {
      return LivePage.over(from, new FeedEnd.UntilReached());
    }
    LivePage<P> page = source.page(from, limit);
    return page.next().compareTo(bound) < 0 ? page : cut(page);
  }

  private LivePage<P> cut(LivePage<P> page) {
    boolean exactly = page.next().compareTo(bound) == 0;
    if (exactly && page.end().isPresent()) {
      return page;
    }
    Rows<P> rows = page.rows().first(page.rows().firstBehind(bound));
    long pending = page.pending() + page.rows().size() - rows.size();
    Optional<FeedEnd> end = Optional.of(new FeedEnd.UntilReached());
    return new LivePage<>(rows, exactly ? page.next() : bound, true, pending, end);
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
