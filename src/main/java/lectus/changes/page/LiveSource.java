package lectus.changes.page;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;
import lectus.store.StoreFailures;

/**
 * What a live feed reads page by page: a database, one of its shards, many databases, or the
 * updates log. It is opened for each listener (see {@link LiveStart}), which binds it to one life
 * of what it reads. Listeners whose sources can be read together share the pages ({@link Sharing}).
 *
 * <p>Pages are read on the feed readers' threads, by several at once. {@link #listen} and {@link
 * #hasNews} are thread-safe and do not wait.
 */
public interface LiveSource<P extends ResumePoint<P>> {

  /**
   * Returns how to read it together with other sources. Empty if rows depend on the reader ({@code
   * seq_interval}): such a source is never shared.
   */
  Optional<Sharing<P>> sharing();

  /**
   * Reads the rows after {@code from}, as many as one page holds: a few hundred kilobytes. If the
   * source is over, every page says so by its end; nothing is thrown.
   *
   * @param limit maximum number of changes; 0 for a reader that may only be told of ends: of
   *     databases before the next change, and of the source
   */
  LivePage<P> page(P from, long limit);

  /**
   * Reads a page as {@link #page} does, which waits for the store alone. Where functions of design
   * documents decide what it shows, it comes when these are done, on any thread. Whoever does not
   * want it any more cancels it.
   *
   * @return fails as {@link #page} does, or with {@link AskedDocuments.TooBusy}
   */
  default CompletableFuture<LivePage<P>> nextPage(P from, long limit) {
    return CompletableFuture.completedFuture(page(from, limit));
  }

  /** Whether a page that could not be read is worth another attempt, after a pause. */
  static boolean passes(Throwable failure) {
    return StoreFailures.isSilence(failure) || failure instanceof AskedDocuments.TooBusy;
  }

  /** Returns what becomes of a page; whoever cancels that cancels the page. */
  static <A, B> CompletableFuture<B> then(CompletableFuture<A> page, Function<A, B> change) {
    CompletableFuture<B> changed = page.thenApply(change);
    changed.whenComplete((done, failure) -> page.cancel(false));
    return changed;
  }

  /**
   * Returns the source to keep among others that have equal rows, which may be large.
   *
   * @param other one of these
   */
  default LiveSource<P> among(LiveSource<P> other) {
    return other;
  }

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

  /** Puts bytes of attachments in place of their marks in rows. */
  @FunctionalInterface
  interface RowFilling {

    /** Returns the text with the bytes, to be read piece by piece while the client takes it. */
    PagedBody fill(JsonBuffer text);
  }

  /**
   * Reads everything new once, for all listeners of a tail, and produces each view's rows. Not
   * thread-safe; called on feed readers' threads, one at a time.
   */
  interface TailReader<P extends ResumePoint<P>> {

    /** Starts producing rows for this view, from the next page. */
    void add(View view);

    /** Stops producing rows for this view. Does nothing for a view that was never added. */
    void remove(View view);

    /**
     * Returns where a tail may begin: the position at which a listener has caught up, or an earlier
     * one if the source has not come that far, whatever the client claimed.
     */
    default P start(P at) {
      return at;
    }

    /** Reads what follows {@code from}, as much as one page holds, at one read version. */
    TailPage<P> page(P from);

    /** Reads a page as {@link LiveSource#nextPage} does. */
    default CompletableFuture<TailPage<P>> nextPage(P from) {
      return CompletableFuture.completedFuture(page(from));
    }
  }

  /**
   * How a source is read together with others.
   *
   * @param tail equal for sources for which one reader reads everything new
   * @param view equal for those of them that have the same rows, byte for byte, at the same points
   * @param reader opens the one reader
   * @param news a source to listen to while anyone reads, so it must not hold what only one view
   *     needs
   */
  record Sharing<P extends ResumePoint<P>>(
      Object tail, Object view, Supplier<TailReader<P>> reader, LiveSource<P> news) {

    /**
     * Shares only with sources that have the same rows.
     *
     * @param identity equal for these
     */
    public static <P extends ResumePoint<P>> Sharing<P> ofEqualRows(
        Object identity, LiveSource<P> source) {
      return new Sharing<>(identity, identity, () -> new WholePages<>(source), source);
    }

    /**
     * The reader of a tail whose listeners all see the same rows: it passes a source's pages on
     * unchanged.
     */
    private static final class WholePages<P extends ResumePoint<P>> implements TailReader<P> {
      private final LiveSource<P> source;
      private Optional<View> view = Optional.empty();

      WholePages(LiveSource<P> source) {
        this.source = source;
      }

      @Override
      public void add(View everything) {
        view = Optional.of(everything);
      }

      @Override
      public void remove(View everything) {
        view = view.filter(known -> known != everything);
      }

      @Override
      public TailPage<P> page(P from) {
        LivePage<P> page = source.page(from, Long.MAX_VALUE);
        Map<View, ViewPage<P>> rows =
            view.isEmpty() || page.rows().isEmpty()
                ? Map.of()
                : Map.of(view.get(), new ViewPage.Shown<>(page.rows()));
        return new TailPage<>(
            from, rows, page.next(), page.reachedEnd(), page.end(), page.readers());
      }
    }
  }

  /**
   * A source, and where one listener begins in it.
   *
   * @param from what {@code since} said; {@code now} has been looked up in the store
   * @param until a bound, which is included: the parameter {@code until}. All listeners read the
   *     same source; each has its own bound.
   * @param closing to be run once, when the listener has ended
   */
  record LiveStart<P extends ResumePoint<P>>(
      LiveSource<P> source, P from, Optional<P> until, Runnable closing) {
    public LiveStart(LiveSource<P> source, P from, Optional<P> until) {
      this(source, from, until, () -> {});
    }

    public LiveStart(LiveSource<P> source, P from) {
      this(source, from, Optional.empty());
    }

    /** Returns the same start up to and including a bound, after which the feed is over. */
    public LiveStart<P> until(P bound) {
      return new LiveStart<>(source, from, Optional.of(bound), closing);
    }

    /** Returns the same start of a listener that leaves something to be done. */
    public LiveStart<P> closing(Runnable last) {
      return new LiveStart<>(source, from, until, last);
    }

    /** Reads a page as {@link LiveSource#page} does, up to the bound. */
    public LivePage<P> page(long limit) {
      return isOver() ? over() : upToBound(source.page(from, limit));
    }

    /** Reads a page as {@link LiveSource#nextPage} does, up to the bound. */
    public CompletableFuture<LivePage<P>> nextPage(long limit) {
      if (isOver()) {
        return CompletableFuture.completedFuture(over());
      }
      CompletableFuture<LivePage<P>> page = source.nextPage(from, limit);
      return until.isEmpty() ? page : then(page, this::upToBound);
    }

    private boolean isOver() {
      return until.filter(it -> from.compareTo(it) >= 0).isPresent();
    }

    private LivePage<P> over() {
      return LivePage.over(from, new FeedEnd.UntilReached());
    }

    private LivePage<P> upToBound(LivePage<P> page) {
      return until.map(page::upTo).orElse(page);
    }
  }
}
