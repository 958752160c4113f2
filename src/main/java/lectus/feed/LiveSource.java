package lectus.feed;

import java.util.Optional;

/**
 * What a live feed reads page by page: a database, one of its shards, many databases, the updates
 * log. Opened for each listener (see {@link LiveStart}), at the latest then bound to one life of
 * what it reads; listeners whose sources can be read together share what is read ({@link Sharing}).
 *
 * <p>Pages are read on feed readers' threads, by several of them at once; {@link #listen} and
 * {@link #hasNews} are for any thread and do not wait.
 *
 * @param <P> where its readers go on
 */
public interface LiveSource<P extends ResumePoint<P>> {

  /**
   * How it is read together with others. Empty where rows depend on who reads them ({@code
   * seq_interval}): such a source is never shared.
   */
  Optional<Sharing<P>> sharing();

  /** Where it is over though the shared reader goes on; empty if nowhere. */
  default Optional<P> bound() {
    return Optional.empty();
  }

  /**
   * The rows behind {@code from}, as many as one page holds: some hundred kilobytes. What is over
   * is told by the page's end, not thrown; it is told as long as somebody asks.
   *
   * @param limit rows at most, 1 or more
   */
  LivePage<P> page(P from, long limit);

  /**
   * How much follows a position, as {@code pending} counts, for points that tell it. Waits for the
   * store.
   */
  default long pendingBehind(P position) {
    return 0;
  }

  /**
   * Has {@code listener} told, on any thread, when there may be something new. Whoever listens
   * registers before its first read, or it would miss what happens in between.
   */
  Registration listen(Listener listener);

  /**
   * Whether something was heard of that lies behind {@code position}, since somebody listens: a
   * level, never a read position. What is heard may be late, double, or wrong, so a reader reads
   * once when it is told and this says so, and not again before it is told again.
   */
  boolean hasNews(P position);

  /** Is told that a look at {@link #hasNews} is worth while. Must not wait and must not throw. */
  @FunctionalInterface
  interface Listener {
    void told();
  }
}
