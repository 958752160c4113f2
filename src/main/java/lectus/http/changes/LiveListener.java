package lectus.http.changes;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.Registration;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.database.SecurityObject;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.WorkerDispatch;
import lectus.http.limits.IdleClock;
import lectus.store.StoreFailures;

/**
 * One listener of a live source. It reads pages on its own until it has caught up, then joins the
 * live tail that is read for all. When its client reads more slowly than rows arrive, it leaves the
 * tail and reads on its own again, a page whenever there is room. Its position says what it has
 * handed over; whoever reads continues from there, so nothing is lost and nothing comes twice.
 *
 * <p>It reads a source that cannot be shared on its own all the time. For the connection's event
 * loop.
 */
final class LiveListener<P extends ResumePoint<P>> {
  private static final long SILENCE_MILLIS = 1_000;

  /**
   * The shortest and the longest pause between two looks for ends of a client that takes no rows.
   */
  private static final long ENDS_MILLIS = 1_000;

  private static final long MAX_ENDS_MILLIS = 16_000;

  private final LiveFeeds feeds;
  private final Context context;
  private final FeedClient client;
  private final FeedSink<P> sink;
  private final FeedTimer timer;
  private final TailPlace<P> inTail = new TailPlace<>();
  private final JoinPauses<P> pauses = new JoinPauses<>();
  private final PendingCount pending = new PendingCount();
  private final Permission permission;

  private LiveSource<P> source;

  /** Empty if it always reads on its own. */
  private Optional<Sharing<P>> sharing = Optional.empty();

  private P position;
  private long remaining;

  private ListenerState state = ListenerState.READING;

  /** Runs the reading of the next page. */
  private Executor readers;

  /** Why it ends once the page being read was handed over. */
  private FeedEnd ending;

  /** Null unless the source cannot be shared, or its client asked for no rows once. */
  private NewsListener bell;

  private boolean looksForEnds;
  private long endsMillis = ENDS_MILLIS;

  LiveListener(LiveFeeds feeds, FeedClient client, FeedSink<P> sink, FeedTerms terms) {
    this.feeds = feeds;
    this.client = client;
    this.context = client.context();
    this.readers = client.readers();
    this.sink = feeds.counted(sink);
    this.timer = new FeedTimer(feeds, terms);
    this.remaining = terms.limit();
    this.permission = new Permission(client);
  }

  /** Begins with an open source. */
  void begin(LiveStart<P> start) {
    if (!isClosed()) {
      guarded(() -> beginReading(start));
    }
  }

  private void beginReading(LiveStart<P> start) {
    source = start.source();
    sharing = source.sharing();
    position = start.from();
    if (!feeds.add(this)) {
      ending = new FeedEnd.ServerStopping();
    }
    sink.begin(position);
    if (isClosed()) {
      return;
    }
    permission.watch(feeds.admissions(), this::dismiss);
    timer.start(
        context.owner(), () -> sink.heartbeat(reached()), () -> end(new FeedEnd.TimedOut()));
    readOn();
  }

  /** Reads a page on its own, as soon as the client has room. */
  private void read() {
    long room = sink.room();
    if (room > 0) {
      // Even with a limit of 0 the page gives the number of pending rows.
      read(Math.max(1, Math.min(remaining, room)));
    } else {
      inTail.leave(this);
      state = ListenerState.WAITING_FOR_ROOM;
      sink.whenRoom(() -> guarded(this::roomAgain));
      watchForEnds();
    }
  }

  /** While it looks for ends it reads on behind that. */
  private void roomAgain() {
    if (state == ListenerState.WAITING_FOR_ROOM) {
      read();
    }
  }

  /**
   * A client that has not asked for more rows is told all the same that a database, or its feed, is
   * over. Looks while others write, but once a second at most, and ever more rarely as long as
   * nothing ends.
   */
  private void watchForEnds() {
    if (state != ListenerState.WAITING_FOR_ROOM || !sink.lacksRequestsOnly()) {
      return;
    }
    if (source.isFindingOut(position)) {
      read(0);
    } else if (!looksForEnds) {
      looksForEnds = true;
      context.owner().setTimer(endsMillis, id -> guarded(this::lookForEnds));
      if (bell == null) {
        bell = new NewsListener(context, () -> guarded(this::wakeAlone));
        bell.hangUpAt(source);
        read(0);
      }
    }
  }

  /** The bell stays rung until here, so that a busy database posts nothing meanwhile. */
  private void lookForEnds() {
    looksForEnds = false;
    boolean waits = state == ListenerState.WAITING_FOR_ROOM && sink.lacksRequestsOnly();
    if (waits && bell.look() && source.mayHaveEnds(position)) {
      endsMillis = Math.min(MAX_ENDS_MILLIS, 2 * endsMillis);
      read(0);
    }
  }

  private void readOn() {
    if (!isOver()) {
      read();
    }
  }

  private void read(long limit) {
    state = ListenerState.READING;
    if (bell != null) {
      bell.look();
    }
    P from = position;
    WorkerDispatch.to(readers, context, () -> source.page(from, limit))
        .onComplete(page -> guarded(() -> takeOwn(page)), this::readAfter);
  }

  /** Waits for a store that does not answer; feeds stay open meanwhile. */
  private void readAfter(Throwable failure) {
    if (StoreFailures.isSilence(failure)) {
      guarded(this::waitForStore);
    } else {
      fail(failure);
    }
  }

  /** A listener that is to end does not wait: all rows up to its position were handed over. */
  private void waitForStore() {
    if (isOver()) {
      return;
    }
    if (ending == null) {
      state = ListenerState.WAITING_FOR_STORE;
      context.owner().setTimer(SILENCE_MILLIS, id -> guarded(this::readOn));
    } else {
      endUncounted(ending);
    }
  }

  /** A feed that fails ends; it does not fall silent. */
  void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      fail(e);
    }
  }

  /** There was room for an ordinary page when the page was requested. */
  private void takeOwn(LivePage<P> page) {
    if (isOver() || !maySee(page.readers())) {
      return;
    }
    readers = page.reachedEnd() ? client.readers() : client.laterReaders();
    boolean taken = handOver(page, Long.MAX_VALUE);
    if (endsBehind(page)) {
      return;
    }
    if (ending != null) {
      finish(ending);
    } else if (!taken) {
      readOn();
    } else if (page.reachedEnd()) {
      sink.caughtUp(position);
      waitForNews();
    } else {
      inTail.leave(this);
      sink.readOn();
      readOn();
    }
  }

  private void waitForNews() {
    if (isOver()) {
      return;
    }
    state = ListenerState.WAITING_FOR_NEWS;
    if (sharing.isEmpty()) {
      waitAlone();
    } else if (!feeds.join(this, source, sharing.get())) {
      readAgain();
    }
  }

  /**
   * Reads up to where the tail began to read for it. If the position does not advance, it backs off
   * before the next attempt.
   */
  void readAgain() {
    long pauseMillis = pauses.refused(position);
    if (pauseMillis == 0) {
      read();
    } else {
      context.owner().setTimer(pauseMillis, id -> guarded(this::readIfComing));
    }
  }

  private void readIfComing() {
    if (state == ListenerState.WAITING_FOR_NEWS && !inTail.hasJoined()) {
      read();
    }
  }

  /** Registers for news before the last look at the source, so that none is missed. */
  private void waitAlone() {
    if (bell == null) {
      bell = new NewsListener(context, () -> guarded(this::wakeAlone));
      bell.hangUpAt(source);
      read();
    } else {
      wakeAlone();
    }
  }

  private void wakeAlone() {
    watchForEnds();
    boolean waits = state == ListenerState.WAITING_FOR_NEWS && sharing.isEmpty();
    if (waits && bell.look() && source.hasNews(position)) {
      read();
    }
  }

  P position() {
    return position;
  }

  Context context() {
    return context;
  }

  /** Returns the position at which the feed ends by itself. */
  Optional<P> bound() {
    return source.bound();
  }

  /** Returns its place in a tail; for the tail to update. */
  TailPlace<P> inTail() {
    return inTail;
  }

  /** Notes that the tail delivers pages to it from now on. */
  void joined(int place) {
    inTail.placed(place);
    pauses.joined();
    if (source.bound().isEmpty() && inTail.view().source().bound().isEmpty()) {
      // A source's view may be large, and is the same for all who see it.
      source = inTail.view().source();
      sharing = source.sharing();
      if (bell != null) {
        bell.takeDown();
        bell.hangUpAt(source);
      }
    }
  }

  /** Notes that the tail has come this far and has delivered all of its rows. */
  void passed(P from) {
    P mine = bound().filter(it -> it.compareTo(from) < 0).orElse(from);
    position = later(position, mine);
  }

  /** Leaves the tail, which no longer reads for it, until it has caught up. */
  void readAlone() {
    inTail.leave(this);
    read();
  }

  /**
   * Takes a page from the tail, as far as there is room; leaves the tail if there is not enough.
   */
  void take(LivePage<P> whole) {
    LivePage<P> page = bound().map(whole::upTo).orElse(whole);
    boolean taken = handOver(page, sink.room());
    if (endsBehind(page)) {
      return;
    }
    if (!taken || !hasReached(page.next())) {
      readAlone();
    } else if (page.reachedEnd()) {
      sink.caughtUp(position);
    }
  }

  /** Notes that the tail has come to {@code end}, at or after the bound. */
  void reachBound(P end) {
    take(new LivePage<>(Rows.none(), end, true, LivePage.NOT_COUNTED, Optional.empty()));
  }

  /**
   * Hands over the rows of a page after the position.
   *
   * @return false, and nothing was handed over, if memory is lacking
   */
  private boolean handOver(LivePage<P> page, long room) {
    Rows<P> rows = page.rows();
    int from = rows.firstBehind(position);
    int to = from + rows.deliverable(from, Math.min(remaining, room));
    if (to > from && !sink.hasMemoryFor(rows, from, to)) {
      return false;
    }
    P reached = to == rows.size() ? page.next() : to == 0 ? position : rows.at(to - 1);
    position = later(position, reached);
    pending.standsIn(page, to);
    remaining -= rows.changes(from, to);
    if (to > from) {
      endsMillis = ENDS_MILLIS;
      timer.restart();
      sink.rows(rows, from, to);
    }
    return true;
  }

  /** Whether the feed is over now. */
  private boolean endsBehind(LivePage<P> page) {
    if (!isOver() && remaining == 0) {
      finish(new FeedEnd.LimitReached());
    } else if (!isOver() && page.end().isPresent() && hasReached(page.next())) {
      finish(page.end().get());
    }
    return isOver();
  }

  private boolean hasReached(P other) {
    return position.compareTo(other) >= 0;
  }

  /** Ends the feed in order: at once, or after the page being read has been handed over. */
  void end(FeedEnd reason) {
    switch (state) {
      case READING -> ending = ending == null ? reason : ending;
      case WAITING_FOR_STORE -> endUncounted(reason);
      case WAITING_FOR_ROOM, WAITING_FOR_NEWS -> {
        reached();
        finish(reason);
      }
      case ENDING, CLOSED -> {}
    }
  }

  /**
   * Returns the position up to which all rows were handed over; the tail may have seen others that
   * are not for it.
   */
  P reached() {
    position = inTail.reached(position);
    return position;
  }

  private void finish(FeedEnd reason) {
    OptionalLong known = pending.toTell(reason, position);
    if (known.isPresent()) {
      conclude(reason, known.getAsLong());
    } else {
      inTail.leave(this);
      state = ListenerState.ENDING;
      P at = position;
      WorkerDispatch.inTime(
              client.patience(), client.readers(), context, () -> source.pendingBehind(at))
          .onComplete(
              count -> guarded(() -> conclude(reason, count)),
              failure -> guarded(() -> endAfter(failure, reason)));
    }
  }

  private void endAfter(Throwable failure, FeedEnd reason) {
    if (PendingCount.isNotWorth(failure)) {
      endUncounted(reason);
    } else {
      fail(failure);
    }
  }

  private void endUncounted(FeedEnd reason) {
    conclude(reason, pending.toTell(reason, position).orElse(PendingCount.SOME));
  }

  private void conclude(FeedEnd reason, long following) {
    if (!isClosed()) {
      close();
      sink.end(reason, position, following);
    }
  }

  /** Whether the client may see a page; if not, the feed is over now. */
  boolean maySee(SecurityObject whoMay) {
    boolean may = permission.isAmong(whoMay);
    if (!may) {
      dismiss(permission.refusal());
    }
    return may;
  }

  /** Whether the client is one of those who may see what a tail reads, as far as that knows. */
  boolean isAmong(SecurityObject whoMay) {
    return permission.isAmong(whoMay);
  }

  /** Ends the feed at once, even if a page is being read: its client may see no more. */
  void dismiss(LectusError why) {
    if (position == null) {
      fail(new LectusException(why));
    } else if (!isOver()) {
      reached();
      conclude(new FeedEnd.NotAllowed(why), 0);
    }
  }

  /** Ends at once, with an error. */
  void fail(Throwable failure) {
    if (!isClosed()) {
      close();
      sink.fail(failure);
    }
  }

  /**
   * Closes the feed: the client has left, or has received everything. Nothing is handed over any
   * more.
   */
  void close() {
    if (isClosed()) {
      return;
    }
    state = ListenerState.CLOSED;
    feeds.remove(this);
    inTail.leave(this);
    timer.stop();
    permission.close();
    if (bell != null) {
      bell.takeDown();
    }
  }

  /** Whether nothing is handed over any more. */
  private boolean isOver() {
    return state == ListenerState.ENDING || state == ListenerState.CLOSED;
  }

  private boolean isClosed() {
    return state == ListenerState.CLOSED;
  }

  private static <P extends ResumePoint<P>> P later(P one, P other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  /** What a listener is about. */
  private enum ListenerState {
    /** A page is being read on a reader's thread. */
    READING,
    WAITING_FOR_ROOM,
    /** The store does not answer. */
    WAITING_FOR_STORE,
    WAITING_FOR_NEWS,
    /** The feed is over, except for the count of what follows. */
    ENDING,
    CLOSED
  }

  /**
   * Tells an event loop that a source may have news: once, however often it rings, until somebody
   * looks.
   */
  private static final class NewsListener implements LiveSource.Listener {
    private final Context context;
    private final Runnable ring;
    private final AtomicBoolean told = new AtomicBoolean();
    private Registration registration = () -> {};

    NewsListener(Context context, Runnable ring) {
      this.context = context;
      this.ring = ring;
    }

    void hangUpAt(LiveSource<?> source) {
      registration = source.listen(this);
    }

    void takeDown() {
      registration.close();
    }

    @Override
    public void told() {
      if (told.compareAndSet(false, true)) {
        WorkerDispatch.post(context, ring);
      }
    }

    /** Whether it rang since the last look. */
    boolean look() {
      return told.getAndSet(false);
    }
  }

  /** Acts when a feed has had no rows for some time. For one event loop. */
  private static final class FeedTimer {
    private final LiveFeeds feeds;
    private final FeedTerms terms;
    private IdleClock.Timer timer;

    FeedTimer(LiveFeeds feeds, FeedTerms terms) {
      this.feeds = feeds;
      this.terms = terms;
    }

    /**
     * @param heartbeat called again and again
     * @param timeout called instead if there are no heartbeats, before the connection is closed as
     *     idle
     */
    void start(Vertx vertx, Runnable heartbeat, Runnable timeout) {
      long longest = feeds.settings().longestSilenceMillis();
      if (terms.heartbeatMillis().isPresent()) {
        long pause = Math.min(terms.heartbeatMillis().getAsLong(), longest);
        timer = feeds.clock().start(vertx, pause, heartbeat);
      } else if (terms.timeoutMillis().isPresent()) {
        long patience = Math.max(1, Math.min(terms.timeoutMillis().getAsLong(), longest));
        timer = feeds.clock().start(vertx, patience, timeout);
      }
    }

    void restart() {
      if (timer != null) {
        timer.restart();
      }
    }

    void stop() {
      if (timer != null) {
        timer.stop();
      }
    }
  }

  /**
   * The number of rows that follow what a listener has received. Few clients are told, so it is
   * counted only at the end, and only if no page has given it.
   */
  private static final class PendingCount {
    /** Stands for an unknown number of rows, at least one. */
    static final long SOME = 1;

    private long known = LivePage.NOT_COUNTED;

    /**
     * @param rows of the page, from its first on, after which the listener stands
     */
    void standsIn(LivePage<?> page, int rows) {
      known = page.pendingBehind(rows);
    }

    /** Whether a count that failed is no reason to break off a complete feed. */
    static boolean isNotWorth(Throwable failure) {
      return StoreFailures.isSilence(failure)
          || (failure instanceof LectusException known
              && known.error() instanceof LectusError.Unavailable);
    }

    /** Returns what the client is told; empty if it has to be counted in the store. */
    OptionalLong toTell(FeedEnd reason, ResumePoint<?> at) {
      if (known != LivePage.NOT_COUNTED) {
        return OptionalLong.of(known);
      }
      // A stopping server does not wait for the store any more.
      boolean isCounted = at.tellsPending() && !(reason instanceof FeedEnd.ServerStopping);
      return isCounted ? OptionalLong.empty() : OptionalLong.of(SOME);
    }
  }
}
