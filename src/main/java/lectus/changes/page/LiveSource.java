package lectus.changes.page;

import java.util.Optional;

/**
 * What a live feed reads page by page: a database, one of its shards, many databases, or the
 * updates log. It is opened for each listener (see {@link LiveStart}), which binds it to one life
 * of what it reads. Listeners whose sources can be read together share the pages ({@link Sharing}).
 *
 * <p>Pages are read on the feed readers' threads, by several at once. {@link #listen} and {@link
 * #hasNews} are thread-safe and do not wait.
 *
 * @param <P> the position of its readers
 */
public interface LiveSource<P extends ResumePoint<P>> {

  /**
   * Returns how to read it together with other sources. Empty if rows depend on the reader ({@code
   * seq_interval}): such a source is never shared.
   */
  Optional<Sharing<P>> sharing();

  /** Returns where it is over although the shared reader continues; empty if nowhere. */
  default Optional<P> bound() {
    return Optional.empty();
  }

  /**
   * Reads the rows after {@code from}, as many as one page holds: a few hundred kilobytes. If the
   * source is over, every page says so by its end; nothing is thrown.
   *
   * @param limit maximum number of changes; 0 for a reader that may only be told of ends: of
   *     databases before the next change, and of the source
   */
  LivePage<P> page(P from, long limit);

  /**
   * Whether a reader without room for changes may be told of an end now; like {@link #hasNews}, not
   * exact.
   */
  default boolean mayHaveEnds(P position) {
    return hasNews(position);
  }

  /**
   * Whether the last page from this position ended while it was still finding out what follows: the
   * next page goes on with that.
   */
  default boolean isFindingOut(P position) {
    return false;
  }

  /**
   * Returns how much follows a position, as {@code pending} counts, for points that tell it. Waits
   * for the store.
   */
  default long pendingBehind(P position) {
    return 0;
  }

  /** Returns how rows become whole that have marks for bytes of attachments; empty if none has. */
  default Optional<RowFilling> filling() {
    return Optional.empty();
  }

  /**
   * Returns the furthest position up to which nothing follows another one, if that can be said
   * without a read: for a listener that has heard of nothing since it read up to there.
   */
  default P quietTo(P position) {
    return position;
  }

  /**
   * Calls {@code listener}, on any thread, when there may be news. Register before the first read;
   * otherwise changes in between would be missed.
   */
  Registration listen(Listener listener);

  /**
   * Whether anything after {@code position} has been announced since the first listener registered:
   * a level, never a read position. Announcements may be late, duplicated or wrong. So a reader
   * that was called and finds this true reads once, and not again before the next call.
   */
  boolean hasNews(P position);

  /** Called when {@link #hasNews} may have changed. Must not wait and must not throw. */
  @FunctionalInterface
  interface Listener {
    void told();
  }
}
