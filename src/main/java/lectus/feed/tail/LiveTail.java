package lectus.feed.tail;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.feed.ResumePoint;

/**
 * Reads new rows of a live source once, for all listeners of this server that have caught up, and
 * hands each page to its outlets: one for each event loop, not one for each listener. It reads only
 * while it has outlets, and the next page when all of them have taken the last one: when delivery
 * takes longer than writing, pages grow, and with them what a listener is sent at once.
 *
 * <p>For any thread. Pages are read on the readers' threads, one after the other.
 */
final class LiveTail<P extends ResumePoint<P>> {
  /** A store that fails so often in a row is not worth waiting for. */
  private static final int MOST_FAILURES = 5;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

  private final LiveSource<P> source;
  private final Executor readers;
  private final List<TailOutlet<P>> outlets = new ArrayList<>();

  /** Null while nobody listens. */
  private TailWindow<P> window;

  private Registration registration;

  /** Whether a read is due even if nobody tells of news. */
  private boolean behind;

  private boolean told;
  private boolean reading;
  private boolean over;

  /** Outlets that have not taken the last page yet. */
  private int untaken;

  private int failures;

  LiveTail(LiveSource<P> source, Executor readers) {
    this.source = source;
    this.readers = readers;
  }

  /**
   * Gives the outlet all pages from here on, if it can begin at {@code at}: inside the window, or
   * anywhere if it is the first.
   *
   * @return what the tail has read before; empty if {@code at} lies before it
   */
  synchronized Optional<TailWindow<P>> attach(TailOutlet<P> outlet, P at) {
    if (over || window != null && !window.covers(at)) {
      return Optional.empty();
    }
    outlets.add(outlet);
    if (window == null) {
      window = TailWindow.startingAt(at);
      registration = source.listen(this::tell);
      behind = true;
      readIfDue();
    }
    return Optional.of(window.copy());
  }

  /** Whether it was the last one. */
  synchronized boolean detach(TailOutlet<P> outlet) {
    outlets.remove(outlet);
    if (outlets.isEmpty()) {
      rest();
    }
    return outlets.isEmpty();
  }

  private void rest() {
    window = null;
    if (registration != null) {
      registration.close();
      registration = null;
    }
  }

  private synchronized void tell() {
    told = true;
    readIfDue();
  }

  private synchronized void taken() {
    untaken--;
    readIfDue();
  }

  private void readIfDue() {
    if (window == null || reading || untaken > 0) {
      return;
    }
    boolean news = told && source.hasNews(window.end());
    told = false;
    if (news || behind) {
      reading = true;
      read(window.end());
    }
  }

  private void read(P from) {
    try {
      readers.execute(() -> readAndDeliver(from));
    } catch (RejectedExecutionException refused) {
      failed(refused);
    }
  }

  private void readAndDeliver(P from) {
    LivePage<P> page;
    try {
      page = source.page(from, Long.MAX_VALUE);
    } catch (Throwable failure) {
      failed(failure);
      return;
    }
    deliver(page, from);
  }

  private synchronized void deliver(LivePage<P> page, P from) {
    reading = false;
    failures = 0;
    // Everybody may have left meanwhile, and others come at another position.
    if (window != null && window.end() == from) {
      window.append(page);
      behind = !page.reachedEnd();
      untaken += outlets.size();
      outlets.forEach(outlet -> outlet.deliver(page, this::taken));
      if (page.end().isPresent()) {
        over = true;
        rest();
      }
    }
    readIfDue();
  }

  private synchronized void failed(Throwable failure) {
    failures++;
    if (failures < MOST_FAILURES) {
      long pauseMillis = FIRST_PAUSE.toMillis() << failures;
      CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS).execute(this::retry);
      return;
    }
    reading = false;
    over = true;
    rest();
    outlets.forEach(outlet -> outlet.fail(failure));
  }

  private synchronized void retry() {
    reading = false;
    behind = true;
    readIfDue();
  }
}
