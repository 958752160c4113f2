package lectus.changes.testing;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import lectus.changes.page.LivePage;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.LiveSource.TailReader;
import lectus.changes.page.Registration;
import lectus.changes.page.ResumePoint;

/** A source that counts how often it is read, and lets a test act around a read. */
public final class WatchedSource<P extends ResumePoint<P>> implements LiveSource<P> {
  private static final Runnable NOTHING = () -> {};

  private final LiveSource<P> inner;
  private final AtomicInteger pages = new AtomicInteger();
  private final AtomicReference<Runnable> before = new AtomicReference<>(NOTHING);
  private final AtomicReference<Runnable> after = new AtomicReference<>(NOTHING);

  public WatchedSource(LiveSource<P> inner) {
    this.inner = inner;
  }

  /** Runs on the reader's thread right before the next page is read. */
  public void beforeNextPage(Runnable action) {
    before.set(action);
  }

  /** Runs on the reader's thread after the next page was read, before anyone receives it. */
  public void afterNextPage(Runnable action) {
    after.set(action);
  }

  public int pages() {
    return pages.get();
  }

  @Override
  public Optional<Sharing<P>> sharing() {
    return inner
        .sharing()
        .map(
            it ->
                new Sharing<>(
                    it.tail(), it.view(), () -> new Watched(it.reader().get()), it.news()));
  }

  @Override
  public LivePage<P> page(P from, long limit) {
    return watched(() -> inner.page(from, limit));
  }

  private <T> T watched(Supplier<T> read) {
    pages.incrementAndGet();
    before.getAndSet(NOTHING).run();
    T page = read.get();
    after.getAndSet(NOTHING).run();
    return page;
  }

  @Override
  public long pendingBehind(P position) {
    return inner.pendingBehind(position);
  }

  /** Shared reads count for the source that opened the reader. */
  private final class Watched implements TailReader<P> {
    private final TailReader<P> reader;

    Watched(TailReader<P> reader) {
      this.reader = reader;
    }

    @Override
    public void add(View view) {
      reader.add(view);
    }

    @Override
    public void remove(View view) {
      reader.remove(view);
    }

    @Override
    public P start(P at) {
      return reader.start(at);
    }

    @Override
    public TailPage<P> page(P from) {
      return watched(() -> reader.page(from));
    }
  }

  @Override
  public boolean isFindingOut(P position) {
    return inner.isFindingOut(position);
  }

  @Override
  public Registration listen(Listener listener) {
    return inner.listen(listener);
  }

  @Override
  public boolean hasNews(P position) {
    return inner.hasNews(position);
  }
}
