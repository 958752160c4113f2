package lectus.http.changes;

import io.vertx.core.Context;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.changes.notify.TailRegistry;
import lectus.changes.notify.TailRegistry.TailOutlet;
import lectus.changes.notify.TailRegistry.TailSeat;
import lectus.changes.page.LivePage;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.database.SecurityObject;
import lectus.http.exchange.Dispatch;

/**
 * One event loop's share of a live tail. A page comes to the loop once and is handed to those
 * listeners that have caught up and for whom it has rows. All others advance with it: the tail's
 * position is theirs. It lasts until the last listener has left. For its event loop, except what it
 * is told as a {@link TailOutlet}.
 */
final class LoopTail<P extends ResumePoint<P>> implements TailOutlet<P> {
  private static final long LONGEST_REST_MILLIS = 20;

  private final TailRegistry tails;
  private final Context context;
  private final Consumer<LoopTail<P>> whenOver;

  /** Views by what they show. */
  private final Map<Object, LoopView<P>> views = new HashMap<>();

  private final Map<View, LoopView<P>> byView = new HashMap<>();

  /** Views whose start is not known yet. */
  private final Set<LoopView<P>> beginning = new HashSet<>();

  /** Views whose listeners had rows since they were last told that they have caught up. */
  private final Set<LoopView<P>> withRows = new LinkedHashSet<>();

  /** Views that listeners have left while a page was being handed out. */
  private final Set<LoopView<P>> thinned = new HashSet<>();

  /** Listeners that end at a bound of their own. */
  private final TreeMap<P, Set<LiveListener<P>>> bounded = new TreeMap<>();

  private final TailWindow<P> window = new TailWindow<>();

  /**
   * What follows the pages in the window, all of which have rows: an empty page, at the tail's end.
   * Null while another page is to come at once.
   */
  private LivePage<P> atEnd;

  /** The position on this event loop; null before the first page. */
  private P end;

  /** Who may see what is read, as of the last page. */
  private SecurityObject readers = SecurityObject.EVERYBODY;

  /** The page on its way through the listeners; their places must not change meanwhile. */
  private PageRound<P> round;

  private boolean over;

  /**
   * @param context of the event loop
   * @param whenOver called when the tail has ended or the last listener has left
   */
  LoopTail(TailRegistry tails, Context context, Consumer<LoopTail<P>> whenOver) {
    this.tails = tails;
    this.context = context;
    this.whenOver = whenOver;
  }

  /**
   * Hands a listener everything after its position: what is in the window at once, the rest as it
   * comes. Where that is not possible yet, the tail begins to read what the listener wants, and the
   * listener has to read on its own once more and join again.
   *
   * @return false if it has to read on its own; else it has joined, or will be told to read
   */
  boolean join(LiveListener<P> listener, LiveSource<P> source, Sharing<P> sharing) {
    LoopView<P> view = views.get(sharing.view());
    view = view == null ? open(listener.position(), source, sharing) : view;
    if (view == null) {
      return false;
    }
    view.coming.add(listener);
    listener.comesTo(this, view);
    return view.start == null || admit(view, listener);
  }

  /** Returns null if the tail has just ended, so that another one is needed. */
  private LoopView<P> open(P at, LiveSource<P> source, Sharing<P> sharing) {
    TailSeat<P> seat =
        views.isEmpty()
            ? tails.attach(sharing, at, this)
            : tails.attach(views.values().iterator().next().seat, sharing, this);
    if (seat == null) {
      finish();
      return null;
    }
    LoopView<P> view = new LoopView<>(seat, source);
    views.put(sharing.view(), view);
    byView.put(seat.view(), view);
    if (view.start == null) {
      beginning.add(view);
    }
    return view;
  }

  private boolean admit(LoopView<P> view, LiveListener<P> listener) {
    P position = listener.position();
    // Which of the two is up to date is not known; its own next page is.
    if (view.start.compareTo(position) > 0
        || !window.covers(position)
        || !listener.isAmong(readers)) {
      return false;
    }
    listener.joined(view.add(listener));
    listener
        .bound()
        .ifPresent(at -> bounded.computeIfAbsent(at, none -> new HashSet<>()).add(listener));
    List<TailPage<P>> pages = window.pagesBehind(position);
    for (TailPage<P> page : pages) {
      listener.passed(page.from());
      take(listener, page.of(view.seat.view()));
    }
    if (!pages.isEmpty() && !pages.get(pages.size() - 1).reachedEnd() && atEnd != null) {
      take(listener, atEnd);
    }
    return true;
  }

  private void take(LiveListener<P> listener, LivePage<P> page) {
    if (listener.isIn(this)) {
      listener.take(page);
    }
  }

  /** Returns the tail's position on this event loop; null before its first page. */
  P end() {
    return end;
  }

  /** Stops expecting a listener that was to join. */
  void expectNoMore(LiveListener<P> listener, LoopView<P> view) {
    view.coming.remove(listener);
    tidy(view);
  }

  /**
   * @param place the last one that the listener was given
   */
  void leave(LiveListener<P> listener, LoopView<P> view, int place) {
    view.listeners.set(place, null);
    view.left++;
    listener.bound().ifPresent(at -> leaveBound(at, listener));
    tidy(view);
  }

  private void leaveBound(P at, LiveListener<P> listener) {
    Set<LiveListener<P>> same = bounded.get(at);
    if (same != null && same.remove(listener) && same.isEmpty()) {
      bounded.remove(at);
    }
  }

  private void tidy(LoopView<P> view) {
    if (round != null) {
      thinned.add(view);
    } else if (view.isEmpty()) {
      close(view);
    } else {
      view.closeRanks();
    }
  }

  private void close(LoopView<P> view) {
    if (views.remove(view.seat.view().shows(), view)) {
      byView.remove(view.seat.view());
      beginning.remove(view);
      withRows.remove(view);
      tails.leave(view.seat, this);
    }
    if (views.isEmpty()) {
      finish();
    }
  }

  private void finish() {
    if (!over) {
      over = true;
      whenOver.accept(this);
    }
  }

  @Override
  public void deliver(TailPage<P> page, long number, Runnable taken) {
    Dispatch.post(context, () -> begin(page, number, taken));
  }

  /** Listeners that join meanwhile find the page in the window, and skip it when it comes by. */
  private void begin(TailPage<P> page, long number, Runnable taken) {
    long startNanos = System.nanoTime();
    try {
      beginning.forEach(view -> view.start = view.seat.start(page, number));
      page.views().forEach((view, shown) -> beginBehindUnread(page, view, shown));
      window.append(page);
      atEnd = page.reachedEnd() ? page.withoutRows() : null;
      round = new PageRound<>(page, concerned(page));
    } catch (Throwable failure) {
      failAll(failure);
      taken.run();
      return;
    }
    handOut(startNanos, taken);
  }

  /** Listeners that come later get nothing of a page that could not be read for their view. */
  private void beginBehindUnread(TailPage<P> page, View view, ViewPage<P> shown) {
    LoopView<P> here = byView.get(view);
    if (here != null && !(shown instanceof ViewPage.Shown)) {
      here.start = page.next();
    }
  }

  private Collection<LoopView<P>> concerned(TailPage<P> page) {
    if (page.end().isPresent()) {
      return List.copyOf(views.values());
    }
    Set<LoopView<P>> concerned = new LinkedHashSet<>();
    for (View view : page.views().keySet()) {
      LoopView<P> here = byView.get(view);
      if (here != null) {
        concerned.add(here);
      }
    }
    withRows.addAll(concerned);
    if (page.reachedEnd()) {
      concerned.addAll(withRows);
      withRows.clear();
    }
    if (!page.readers().equals(readers)) {
      concerned.addAll(views.values());
    }
    readers = page.readers();
    return concerned;
  }

  private void handOut(long startNanos, Runnable taken) {
    boolean more = false;
    try {
      more = round.turn();
    } finally {
      if (more) {
        Dispatch.post(context, () -> handOut(startNanos, taken));
      } else {
        try {
          end(round.page());
        } finally {
          // Runs after the sockets' flushes, which are work of the loop, too.
          Dispatch.post(context, () -> rest(startNanos, taken));
        }
      }
    }
  }

  /**
   * Leaves half of an event loop's time to other work than handing out pages. Rows that come
   * meanwhile make one page, whose delivery costs little more than that of one row.
   */
  private void rest(long startNanos, Runnable taken) {
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    if (tookMillis == 0) {
      taken.run();
    } else {
      context.owner().setTimer(Math.min(tookMillis, LONGEST_REST_MILLIS), id -> taken.run());
    }
  }

  private void end(TailPage<P> page) {
    round = null;
    end = page.next();
    List<LoopView<P>> left = List.copyOf(thinned);
    thinned.clear();
    left.forEach(this::tidy);
    endBounded();
    admitExpected(page.end().isPresent());
    if (page.end().isPresent()) {
      finish();
    }
  }

  private void endBounded() {
    while (!bounded.isEmpty() && bounded.firstKey().compareTo(end) <= 0) {
      for (LiveListener<P> listener : List.copyOf(bounded.pollFirstEntry().getValue())) {
        listener.guarded(() -> listener.reachBound(end));
      }
    }
  }

  /** If nothing follows, the expected listeners find that out on their own. */
  private void admitExpected(boolean isOver) {
    Collection<LoopView<P>> all = List.copyOf(isOver ? views.values() : beginning);
    beginning.clear();
    for (LoopView<P> view : all) {
      for (LiveListener<P> listener : List.copyOf(view.coming)) {
        listener.guarded(
            () -> {
              if (isOver || !admit(view, listener)) {
                listener.readAgain();
              }
            });
      }
    }
  }

  @Override
  public void fail(Throwable failure) {
    Dispatch.post(context, () -> failAll(failure));
  }

  private void failAll(Throwable failure) {
    for (LoopView<P> view : List.copyOf(views.values())) {
      List<LiveListener<P>> all = new ArrayList<>(view.coming);
      view.listeners.stream().filter(Objects::nonNull).forEach(all::add);
      all.forEach(listener -> listener.fail(failure));
    }
    finish();
  }

  /** A page of a tail on its way through the listeners of an event loop that it concerns. */
  private static final class PageRound<P extends ResumePoint<P>> {
    /**
     * Listeners that get a page in one turn of the event loop; requests are served between turns.
     */
    private static final int LISTENERS_A_TURN = 100;

    private final TailPage<P> page;
    private final Iterator<LoopView<P>> views;
    private LoopView<P> view;
    private LivePage<P> shown;
    private int place;

    PageRound(TailPage<P> page, Collection<LoopView<P>> views) {
      this.page = page;
      this.views = views.iterator();
    }

    TailPage<P> page() {
      return page;
    }

    /** Hands the page to the next listeners; returns false if there are no more. */
    boolean turn() {
      for (int listeners = 0; listeners < LISTENERS_A_TURN; listeners++) {
        while (view == null || place == view.listeners.size()) {
          if (!views.hasNext()) {
            return false;
          }
          view = views.next();
          shown = page.of(view.seat.view());
          place = 0;
        }
        LiveListener<P> listener = view.listeners.get(place);
        place++;
        if (listener != null) {
          listener.guarded(() -> hand(listener));
        }
      }
      return true;
    }

    private void hand(LiveListener<P> listener) {
      listener.passed(page.from());
      if (!listener.maySee(page.readers())) {
        return;
      }
      ViewPage<P> special = page.views().get(view.seat.view());
      if (special instanceof ViewPage.Failed<P> failed) {
        listener.fail(failed.failure());
      } else if (special instanceof ViewPage.Crowded) {
        listener.readAlone();
      } else {
        listener.take(shown);
      }
    }
  }

  /** The listeners of one event loop that see the same view of a tail. */
  static final class LoopView<P extends ResumePoint<P>> {
    private final TailSeat<P> seat;
    private final LiveSource<P> source;

    /** In the order in which they joined; null in place of one that has left. */
    private final List<LiveListener<P>> listeners = new ArrayList<>();

    /** Listeners that read up to the view's start while the tail already reads the view. */
    private final Set<LiveListener<P>> coming = new LinkedHashSet<>();

    private int left;

    /** The position after which the tail has this view's rows; null until it is known. */
    private P start;

    private LoopView(TailSeat<P> seat, LiveSource<P> source) {
      this.seat = seat;
      this.source = source;
      this.start = seat.start().orElse(null);
    }

    TailSeat<P> seat() {
      return seat;
    }

    LiveSource<P> source() {
      return source;
    }

    /** Returns the listener's place. */
    private int add(LiveListener<P> listener) {
      coming.remove(listener);
      listeners.add(listener);
      return listeners.size() - 1;
    }

    private boolean isEmpty() {
      return left == listeners.size() && coming.isEmpty();
    }

    /** Gives listeners new places when many have left. */
    private void closeRanks() {
      if (left > listeners.size() / 2) {
        listeners.removeIf(Objects::isNull);
        left = 0;
        for (int place = 0; place < listeners.size(); place++) {
          listeners.get(place).placed(place);
        }
      }
    }
  }

  /**
   * The last pages of a live tail, without gaps, beginning with the first page that was read. A
   * reader joins the tail at a position inside the window. Not thread-safe.
   */
  static final class TailWindow<P extends ResumePoint<P>> {
    /** Bytes of rows kept besides the last page, which is kept unless it is a long one. */
    static final int MAX_BYTES = 64 << 10;

    static final int MAX_PAGES = 64;

    private final Deque<Kept<P>> pages = new ArrayDeque<>();
    private P start;
    private long bytes;

    private record Kept<P extends ResumePoint<P>>(TailPage<P> page, long bytes) {}

    /**
     * @param page read where the last one ended
     */
    void append(TailPage<P> page) {
      start = start == null ? page.from() : start;
      if (page.views().isEmpty()) {
        return;
      }
      if (isLong(page)) {
        pages.clear();
        bytes = 0;
        start = page.next();
        return;
      }
      Kept<P> newest = new Kept<>(page, bytesOf(page));
      pages.add(newest);
      bytes += newest.bytes();
      while (pages.size() > 1 && (bytes > MAX_BYTES || pages.size() > MAX_PAGES)) {
        Kept<P> oldest = pages.remove();
        bytes -= oldest.bytes();
        start = oldest.page().next();
      }
    }

    private static boolean isLong(TailPage<?> page) {
      return page.views().values().stream()
          .anyMatch(it -> it instanceof ViewPage.Shown<?> shown && shown.rows().areLong());
    }

    /** Equal rows, which many views may have, count once. */
    private static long bytesOf(TailPage<?> page) {
      return page.views().values().stream()
          .filter(ViewPage.Shown.class::isInstance)
          .map(it -> ((ViewPage.Shown<?>) it).rows())
          .distinct()
          .mapToLong(TailWindow::bytesOf)
          .sum();
    }

    private static long bytesOf(Rows<?> rows) {
      return rows.bytes(0, rows.size());
    }

    /** Whether the window has every row after {@code position} that the tail has read. */
    boolean covers(P position) {
      return start == null || start.compareTo(position) <= 0;
    }

    /** Returns the pages with something after {@code position}, oldest first. */
    List<TailPage<P>> pagesBehind(P position) {
      return pages.stream()
          .map(Kept::page)
          .filter(page -> page.next().compareTo(position) > 0)
          .toList();
    }
  }
}
