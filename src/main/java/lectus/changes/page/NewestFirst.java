package lectus.changes.page;

import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.page.LiveSource.RowFilling;
import lectus.changes.page.LiveSource.Sharing;
import lectus.store.Awaiting;

/**
 * A live feed with {@code descending=true}: it shows what there is, newest first, and is over, as
 * in CouchDB. It waits for nothing, so nobody registers with it.
 */
public record NewestFirst<P extends ResumePoint<P>>(
    NewestFirst.Pages<P> pages, Optional<RowFilling> filling)
    implements LiveSource<NewestFirst.Before<P>> {
  /**
   * A position of a reader that goes back in time: it reads on before {@code at}.
   *
   * @param at the last entry examined, or the bound that the client gave; empty at the end
   * @param examined whether an entry was examined; otherwise {@code last_seq} is {@code 0}, as
   *     nothing is older
   */
  public record Before<P extends ResumePoint<P>>(Optional<P> at, boolean examined)
      implements ResumePoint<Before<P>> {

    /** Whatever is newest comes first. */
    public static <P extends ResumePoint<P>> Before<P> end() {
      return new Before<P>(Optional.empty(), false);
    }

    /** The newest entry that is shown lies before {@code bound}. */
    public static <P extends ResumePoint<P>> Before<P> bound(P bound) {
      return new Before<P>(Optional.of(bound), false);
    }

    public static <P extends ResumePoint<P>> Before<P> entry(P at) {
      return new Before<P>(Optional.of(at), true);
    }

    @Override
    public String text() {
      return examined ? at.map(P::text).orElse("0") : "0";
    }

    @Override
    public long commitVersion() {
      return at.map(P::commitVersion).orElse(0L);
    }

    @Override
    public boolean tellsPending() {
      return at.map(P::tellsPending).orElse(true);
    }

    /** Later positions lie at earlier entries. */
    @Override
    public int compareTo(Before<P> other) {
      if (at.isEmpty() || other.at.isEmpty()) {
        return Boolean.compare(at.isPresent(), other.at.isPresent());
      }
      return Comparator.<P>reverseOrder().compare(at.get(), other.at.get());
    }
  }

  /** Reads pages of one kind of feed. */
  @FunctionalInterface
  public interface Pages<P extends ResumePoint<P>> {

    /**
     * Reads the rows before {@code from}, newest first, as {@link LiveSource#nextPage} does.
     *
     * @param limit maximum number of rows, at least 1
     */
    CompletableFuture<LivePage<Before<P>>> read(Before<P> from, long limit);
  }

  @Override
  public Optional<Sharing<Before<P>>> sharing() {
    return Optional.empty();
  }

  @Override
  public LivePage<Before<P>> page(Before<P> from, long limit) {
    return Awaiting.await(nextPage(from, limit));
  }

  @Override
  public CompletableFuture<LivePage<Before<P>>> nextPage(Before<P> from, long limit) {
    return LiveSource.then(pages.read(from, limit), NewestFirst::last);
  }

  private static <P extends ResumePoint<P>> LivePage<Before<P>> last(LivePage<Before<P>> page) {
    return page.reachedEnd() && page.end().isEmpty()
        ? new LivePage<>(
            page.rows(),
            page.next(),
            true,
            page.pending(),
            Optional.of(new FeedEnd.UntilReached()),
            page.readers())
        : page;
  }

  @Override
  public Registration listen(Listener listener) {
    return () -> {};
  }

  @Override
  public boolean hasNews(Before<P> position) {
    return false;
  }
}
