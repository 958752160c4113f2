package lectus.feed;

import java.util.Optional;

/**
 * What a live feed reads page by page: a database, one of its shards, many databases, the updates
 * log. Opened for each listener (see {@link LiveStart}), at the latest then bound to one life of
 * what it reads; listeners whose sources have equal identities share one of them, and with it what
 * is read.
 *
 * <p>Pages are read on feed readers' threads, by several of them at once; {@link #listen} and
 * {@link #hasNews} are for any thread and do not wait.
 *
 * @param <P> where its readers go on
 */
public interface LiveSource<P extends ResumePoint<P>> {

  /**
   * Sources with equal identities have the same rows, byte for byte, at the same points. Empty
   * where rows depend on who reads them ({@code seq_interval}): such a source is never shared.
   */
  Optional<Object> identity();

  /**
   * The rows behind {@code from}, as many as one page holds: some hundred kilobytes. What is over
   * is told by the page's end, not thrown; it is told as long as somebody asks.
   *
   * @param limit rows at most, 1 or more
   */
  LivePage<P> page(P from, long limit);

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
