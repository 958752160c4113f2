package lectus.feed.testing;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.feed.ResumePoint;

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

  /** Runs on the reader's thread when the next page has been read, before anybody gets it. */
  public void afterNextPage(Runnable action) {
    after.set(action);
  }

  public int pages() {
    return pages.get();
  }

  @Override
  public Optional<Object> identity() {
    return inner.identity();
  }

  @Override
  public LivePage<P> page(P from, long limit) {
    pages.incrementAndGet();
    before.getAndSet(NOTHING).run();
    LivePage<P> page = inner.page(from, limit);
    after.getAndSet(NOTHING).run();
    return page;
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
