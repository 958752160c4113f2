package lectus.changes.notify;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import lectus.changes.notify.TailRegistry.TailOutlet;
import lectus.changes.notify.TailRegistry.TailSeat;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.TailReader;
import lectus.changes.page.Registration;
import lectus.changes.page.ResumePoint;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what is new once, for all listeners of this server that have caught up. It passes each page
 * to its outlets, of which there is one per event loop, not one per listener. It reads the next
 * page when all outlets have taken the last one. So if delivery is slower than writing, pages grow,
 * and each listener is sent more at once. A tail begins with its first outlet and is over when the
 * last one has left.
 *
 * <p>Thread-safe. Pages are read on the readers' threads, one after the other.
 */
final class LiveTail<P extends ResumePoint<P>> {
  /** After this many consecutive failures of the store, waiting is pointless. */
  private static final int MAX_FAILURES = 5;

  private static final Logger LOG = LoggerFactory.getLogger(LiveTail.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

  private final Object identity;
  private final LiveSource<P> source;
  private final TailReader<P> reader;
  private final P begin;
  private final Executor readers;

  /** With the number of their seats. */
  private final Map<TailOutlet<P>, Integer> outlets = new HashMap<>();

  private final TailViews views = new TailViews();

  /** The views that could not be added to the reader; used by the reader's thread alone. */
  private final Map<View, ViewPage<P>> unable = new HashMap<>();

  private Registration registration;

  /** The position after which the next page is read; null before the first. */
  private P end;

  private long pages;

  /** Whether a page is due even without news. */
  private boolean behind = true;

  private boolean told;

  /** Whether the reader is at work, or pauses after a failure. */
  private boolean busy;

  /** Whether it is reading a page, rather than only updating the views. */
  private boolean pageComes;

  private boolean over;

  /** The page that is being read, or was read last. */
  private CompletableFuture<TailPage<P>> comingPage = CompletableFuture.completedFuture(null);

  /** Number of outlets that have not taken the last page yet. */
  private int untaken;

  private int failures;

  /**
   * @param source is listened to
   * @param begin where the first listener has caught up
   */
  LiveTail(Object identity, LiveSource<P> source, TailReader<P> reader, P begin, Executor readers) {
    this.identity = identity;
    this.source = source;
    this.reader = reader;
    this.begin = begin;
    this.readers = readers;
  }

  Object identity() {
    return identity;
  }

  /**
   * Sends the outlet all pages from now on, with this view's rows; returns null if the tail is
   * over.
   */
  synchronized TailSeat<P> attach(TailOutlet<P> outlet, Object shows) {
    if (over) {
      return null;
    }
    View view = views.take(shows);
    outlets.merge(outlet, 1, Integer::sum);
    boolean isKnown = end != null && !pageComes;
    long firstPage = pages + 1;
    if (registration == null) {
      registration = source.listen(this::tell);
      workIfDue();
    }
    return new TailSeat<>(this, view, firstPage, isKnown ? Optional.of(end) : Optional.empty());
  }

  /** Returns whether the last outlet has left. */
  synchronized boolean leave(TailOutlet<P> outlet, View view) {
    views.leave(view);
    outlets.computeIfPresent(outlet, (same, seats) -> seats == 1 ? null : seats - 1);
    if (outlets.isEmpty()) {
      finish();
    } else {
      workIfDue();
    }
    return outlets.isEmpty();
  }

  /**
   * Returns how far a listener has come that was handed everything up to a position: further, if it
   * has all that was read, and nothing was announced since.
   */
  P quietTo(P position) {
    P quiet = source.quietTo(position);
    return isQuietAt(position) ? quiet : position;
  }

  private synchronized boolean isQuietAt(P position) {
    boolean waits = !over && !busy && !behind && !told;
    return waits && end != null && position.compareTo(end) >= 0;
  }

  private void finish() {
    over = true;
    comingPage.cancel(false);
    if (registration != null) {
      registration.close();
    }
  }

  private synchronized void tell() {
    told = true;
    workIfDue();
  }

  private synchronized void taken() {
    untaken--;
    workIfDue();
  }

  private void workIfDue() {
    if (over || busy || untaken > 0) {
      return;
    }
    boolean news = told && end != null && source.hasNews(end);
    told = false;
    behind |= news;
    // Views may be large, so removed ones are released before there is news.
    if (behind || views.anyRemoved()) {
      busy = true;
      pageComes = behind;
      execute(behind ? this::readPage : this::changeViews);
    }
  }

  private void execute(Runnable work) {
    try {
      readers.execute(work);
    } catch (Throwable refused) {
      failed(refused);
    }
  }

  private void changeViews() {
    try {
      tellReader(takeChanges());
      done();
    } catch (Throwable failure) {
      failed(failure);
    }
  }

  private synchronized void done() {
    busy = false;
    workIfDue();
  }

  private void readPage() {
    try {
      long number = nextNumber();
      tellReader(takeChanges());
      CompletableFuture<TailPage<P>> reading =
          reader.nextPage(end == null ? reader.start(begin) : end);
      comes(reading);
      reading.whenComplete((page, failure) -> came(page, failure, number));
    } catch (Throwable failure) {
      failed(failure);
    }
  }

  /** Nobody waits for a page any more if the tail is over. */
  private synchronized void comes(CompletableFuture<TailPage<P>> reading) {
    comingPage = reading;
    if (over) {
      reading.cancel(false);
    }
  }

  private void came(TailPage<P> page, Throwable failure, long number) {
    try {
      if (failure != null) {
        throw failure;
      }
      deliver(unable.isEmpty() ? page : withUnable(page), number);
    } catch (Throwable failed) {
      failed(failed);
    }
  }

  private synchronized long nextNumber() {
    pages++;
    return pages;
  }

  private synchronized TailViews.Changes takeChanges() {
    return views.takeChanges();
  }

  /** A failure with one view does not affect the others. */
  private void tellReader(TailViews.Changes changes) {
    changes.removed().forEach(this::remove);
    for (View view : changes.added()) {
      try {
        reader.add(view);
      } catch (Throwable failure) {
        unable.put(view, new ViewPage.Failed<>(failure));
        remove(view);
        addAgain(view);
      }
    }
  }

  private void remove(View view) {
    try {
      reader.remove(view);
    } catch (Throwable failure) {
      LOG.error("A view of a live tail could not be removed", failure);
    }
  }

  /** New listeners may ask for the same view while the earlier ones are notified of the failure. */
  private synchronized void addAgain(View view) {
    views.addAgain(view);
  }

  private TailPage<P> withUnable(TailPage<P> page) {
    Map<View, ViewPage<P>> all = new HashMap<>(page.views());
    all.putAll(unable);
    unable.clear();
    return new TailPage<>(
        page.from(), all, page.next(), page.reachedEnd(), page.end(), page.readers());
  }

  private synchronized void deliver(TailPage<P> page, long number) {
    busy = false;
    pageComes = false;
    failures = 0;
    end = page.next();
    behind = !page.reachedEnd();
    List<TailOutlet<P>> all = new ArrayList<>(outlets.keySet());
    untaken += all.size();
    all.forEach(outlet -> deliver(page, number, outlet));
    if (page.end().isPresent()) {
      finish();
    }
    workIfDue();
  }

  private void deliver(TailPage<P> page, long number, TailOutlet<P> outlet) {
    try {
      outlet.deliver(page, number, this::taken);
    } catch (Throwable closed) {
      untaken--;
    }
  }

  private synchronized void failed(Throwable failure) {
    // An unresponsive store, or memory that others hold, is awaited, however long it takes.
    failures = LiveSource.passes(failure) ? 1 : failures + 1;
    if (over || (failures < MAX_FAILURES && retriesLater())) {
      return;
    }
    busy = false;
    try {
      finish();
    } finally {
      outlets.keySet().forEach(outlet -> fail(outlet, failure));
    }
  }

  /**
   * Returns false if there is not even memory for a retry; listeners are then notified, and come
   * again.
   */
  private boolean retriesLater() {
    try {
      long pauseMillis = FIRST_PAUSE.toMillis() << failures;
      // Whatever the readers refuse is heard here; on the timer's thread nobody would hear it.
      CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS, Runnable::run)
          .execute(this::retry);
      return true;
    } catch (Throwable refused) {
      return false;
    }
  }

  private void fail(TailOutlet<P> outlet, Throwable failure) {
    try {
      outlet.fail(failure);
    } catch (Throwable closed) {
      // Its event loop has stopped, and its listeners with it.
    }
  }

  private synchronized void retry() {
    busy = false;
    behind = true;
    workIfDue();
  }

  /**
   * The views of a tail that have listeners, and those that its reader does not know yet. Not
   * thread-safe.
   */
  private static final class TailViews {
    private final Map<Object, Seats> views = new HashMap<>();
    private Set<View> added = new LinkedHashSet<>();
    private List<View> removed = new ArrayList<>();

    private static final class Seats {
      private final View view;
      private int count;

      Seats(View view) {
        this.view = view;
      }
    }

    record Changes(Set<View> added, List<View> removed) {}

    View take(Object shows) {
      Seats seats = views.get(shows);
      if (seats == null) {
        seats = new Seats(new View(shows));
        views.put(shows, seats);
        added.add(seats.view);
      }
      seats.count++;
      return seats.view;
    }

    void leave(View view) {
      Seats seats = views.get(view.shows());
      seats.count--;
      if (seats.count == 0) {
        views.remove(view.shows());
        if (!added.remove(view)) {
          removed.add(view);
        }
      }
    }

    /** The reader could not add a view; report it again if it still has listeners. */
    void addAgain(View view) {
      if (!removed.remove(view)) {
        added.add(view);
      }
    }

    /** Whether the reader has views that have no listeners any more. */
    boolean anyRemoved() {
      return !removed.isEmpty();
    }

    Changes takeChanges() {
      Changes changes = new Changes(added, removed);
      added = new LinkedHashSet<>();
      removed = new ArrayList<>();
      return changes;
    }
  }
}
