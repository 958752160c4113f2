package lectus.http.changes;

import io.vertx.core.Context;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedRights;
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
import lectus.http.HttpSettings;
import lectus.http.changes.LoopTail.LoopView;
import lectus.http.exchange.Dispatch;
import lectus.http.exchange.WatchedSession;
import lectus.http.limits.IdleClock;
import lectus.store.StoreFailures;

/**
 * One listener of a live source. It reads pages on its own until it has caught up, then joins the
 * live tail that is read for all. When its client reads more slowly than rows arrive, it leaves the
 * tail and reads on its own again, a page whenever there is room. Its position says what it has
 * handed over; whoever reads continues from there, so nothing is lost and nothing comes twice.
 *
 * <p>It reads a source that cannot be shared on its own all the time. For the connection's event
 * loop. There may be a hundred thousand on a server, so what few need is made when needed.
 */
final class LiveListener<P extends ResumePoint<P>> {
  private static final long SILENCE_MILLIS = 1_000;

  /**
   * The shortest and the longest pause between two looks for ends of a client that takes no rows.
   */
  private static final long ENDS_MILLIS = 1_000;

  private static final long MAX_ENDS_MILLIS = 16_000;

  /** Its place in a tail while it reads up to the start of its view there. */
  private static final int COMING = -1;

  /** What is told as {@code pending} of an unknown number of rows, at least one. */
  private static final long SOME = 1;

  private final LiveFeeds feeds;
  private final Context context;
  private final FeedClient client;
  private final FeedSink<P> sink;
  private final FeedTerms terms;
  private LiveSource<P> source;

  /** Empty if it always reads on its own. */
  private Optional<Sharing<P>> sharing = Optional.empty();

  /** The position at which the feed ends by itself. */
  private Optional<P> bound = Optional.empty();

  private P position;
  private long remaining;
  private State state = State.READING;

  /** Gives back what was taken for the feed. */
  private Runnable closing = () -> {};

  private Executor readers;

  /** The page that was read, about which a function is asked; null if there is none. */
  private CompletableFuture<LivePage<P>> judged;

  /** Why it ends once the page being read was handed over. */
  private FeedEnd ending;

  /** How many rows follow the position, if a page has told; few clients are told. */
  private long pending = LivePage.NOT_COUNTED;

  /** Whether it has caught up once: rows that come later were written while it listened. */
  private boolean hasCaughtUp;

  /** Acts when there were no rows for some time; null if nothing is to be done then. */
  private IdleClock.Timer timer;

  /** Ends when the client is not admitted any more; null if somebody else watches that. */
  private WatchedSession session;

  /** Those among whom the client was found last. */
  private SecurityObject knownReaders = SecurityObject.EVERYBODY;

  /** The tail that reads for it; null while it reads on its own. */
  private LoopTail<P> tail;

  private LoopView<P> view;

  /** Its place among the listeners of the same view, or {@link #COMING}. */
  private int place;

  /** Null before a tail has refused it. */
  private JoinPauses<P> pauses;

  /**
   * Its own registration with the source; null unless that cannot be shared, or the client asked
   * for no rows once.
   */
  private Registration news;

  /** Whether the source told of something since the last look; set on any thread. */
  private AtomicBoolean told;

  private boolean looksForEnds;
  private long endsMillis = ENDS_MILLIS;

  private enum State {
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
   * A listener's terms of a live feed, beside its rows.
   *
   * @param limit the number of rows after which it ends, 0 or more
   * @param heartbeatMillis the interval of heartbeats, a second to a day, when there is nothing
   *     else; empty: never
   * @param timeoutMillis the time without rows after which it ends; empty: never
   */
  record FeedTerms(long limit, OptionalLong heartbeatMillis, OptionalLong timeoutMillis) {

    /** CouchDB takes any number; values out of bounds are clamped here. */
    FeedTerms {
      if (heartbeatMillis.isPresent()) {
        long most = Math.min(heartbeatMillis.getAsLong(), HttpSettings.LONGEST_HEARTBEAT_MILLIS);
        heartbeatMillis = OptionalLong.of(Math.max(most, HttpSettings.SHORTEST_HEARTBEAT_MILLIS));
      }
    }
  }

  LiveListener(LiveFeeds feeds, FeedClient client, FeedSink<P> sink, FeedTerms terms) {
    this.feeds = feeds;
    this.client = client;
    this.context = client.context();
    this.readers = client.readers();
    this.sink = sink;
    this.terms = terms;
    this.remaining = terms.limit();
  }

  void begin(LiveStart<P> start) {
    if (state == State.CLOSED) {
      start.closing().run();
    } else {
      guarded(() -> beginReading(start));
    }
  }

  private void beginReading(LiveStart<P> start) {
    source = start.source();
    closing = start.closing();
    sharing = source.sharing();
    position = start.from();
    bound = start.until();
    if (!feeds.add(this)) {
      ending = new FeedEnd.ServerStopping();
    }
    sink.begin(position);
    if (state == State.CLOSED) {
      return;
    }
    if (!client.isWatched()) {
      session = new WatchedSession(feeds.admissions(), context, client.admission(), this::dismiss);
    }
    startTimer();
    readOn();
  }

  /** A feed without heartbeats times out before its connection is closed as idle. */
  private void startTimer() {
    long longest = feeds.settings().longestSilenceMillis();
    if (terms.heartbeatMillis().isPresent()) {
      long pause = Math.min(terms.heartbeatMillis().getAsLong(), longest);
      timer = feeds.clock().start(context.owner(), pause, () -> sink.heartbeat(reached()));
    } else if (terms.timeoutMillis().isPresent()) {
      long patience = Math.max(1, Math.min(terms.timeoutMillis().getAsLong(), longest));
      timer = feeds.clock().start(context.owner(), patience, () -> end(new FeedEnd.TimedOut()));
    }
  }

  // Reading on its own.

  private void readOn() {
    if (!isOver()) {
      read();
    }
  }

  /** Reads a page on its own, as soon as the client has room. */
  private void read() {
    long room = sink.room();
    if (room > 0) {
      // Even with a limit of 0 the page gives the number of pending rows.
      read(Math.max(1, Math.min(remaining, room)));
    } else {
      leaveTail();
      state = State.WAITING_FOR_ROOM;
      sink.whenRoom(() -> guarded(this::roomAgain));
      watchForEnds();
    }
  }

  private void read(long limit) {
    state = State.READING;
    if (news != null) {
      told.set(false);
    }
    LiveStart<P> here = new LiveStart<>(source, position, bound);
    Dispatch.to(readers, context, () -> here.nextPage(limit))
        .onComplete(page -> guarded(() -> takeOnceDone(page)), this::readAfter);
  }

  /** A function that filters the page may still be at work. */
  private void takeOnceDone(CompletableFuture<LivePage<P>> page) {
    if (isOver()) {
      page.cancel(false);
    } else if (page.isDone() && !page.isCompletedExceptionally()) {
      takeOwn(page.getNow(null));
    } else {
      judged = page;
      page.whenComplete(
          (done, failure) -> Dispatch.post(context, () -> guarded(() -> takeJudged(page))));
    }
  }

  private void takeJudged(CompletableFuture<LivePage<P>> page) {
    if (judged != page) {
      return;
    }
    judged = null;
    Throwable failure = page.handle((done, thrown) -> thrown).getNow(null);
    if (failure == null) {
      takeOwn(page.getNow(null));
    } else {
      readAfter(unwrapped(failure));
    }
  }

  private static Throwable unwrapped(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  /** Stops what is asked for a page that nobody waits for any more. */
  private void dropJudged() {
    if (judged != null) {
      CompletableFuture<LivePage<P>> dropped = judged;
      judged = null;
      dropped.cancel(false);
    }
  }

  /** While it looks for ends it reads on behind that. */
  private void roomAgain() {
    if (state == State.WAITING_FOR_ROOM) {
      read();
    }
  }

  /** Waits for a store that does not answer, or for memory; feeds stay open meanwhile. */
  private void readAfter(Throwable failure) {
    if (LiveSource.passes(failure)) {
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
      state = State.WAITING_FOR_STORE;
      context.owner().setTimer(SILENCE_MILLIS, id -> guarded(this::readOn));
    } else {
      endUncounted(ending);
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
      caughtUp();
      waitForNews();
    } else {
      leaveTail();
      sink.readOn();
      readOn();
    }
  }

  private void waitForNews() {
    if (isOver()) {
      return;
    }
    state = State.WAITING_FOR_NEWS;
    sharing = source.sharing();
    if (sharing.isEmpty()) {
      waitAlone();
    } else if (!feeds.join(this, source, sharing.get())) {
      readAgain();
    }
  }

  /** Registers for news before the last look at the source, so that none is missed. */
  private void waitAlone() {
    if (news == null) {
      listen();
      read();
    } else {
      wakeAlone();
    }
  }

  /** However often the source tells of something, the event loop hears of it once a look. */
  private void listen() {
    told = told == null ? new AtomicBoolean() : told;
    AtomicBoolean heard = told;
    news =
        source.listen(
            () -> {
              if (heard.compareAndSet(false, true)) {
                Dispatch.post(context, () -> guarded(this::wakeAlone));
              }
            });
  }

  private void wakeAlone() {
    watchForEnds();
    boolean waits = state == State.WAITING_FOR_NEWS && sharing.isEmpty();
    if (waits && told.getAndSet(false) && source.hasNews(position)) {
      read();
    }
  }

  /**
   * A client that has not asked for more rows is told all the same that a database, or its feed, is
   * over. Looks while others write, but once a second at most, and ever more rarely as long as
   * nothing ends.
   */
  private void watchForEnds() {
    if (state != State.WAITING_FOR_ROOM || !sink.lacksRequestsOnly()) {
      return;
    }
    if (source.isFindingOut(position)) {
      read(0);
    } else if (!looksForEnds) {
      looksForEnds = true;
      context.owner().setTimer(endsMillis, id -> guarded(this::lookForEnds));
      if (news == null) {
        listen();
        read(0);
      }
    }
  }

  /** The source's word is kept until here, so that a busy database posts nothing meanwhile. */
  private void lookForEnds() {
    looksForEnds = false;
    boolean waits = state == State.WAITING_FOR_ROOM && sink.lacksRequestsOnly();
    if (waits && told.getAndSet(false) && source.mayHaveEnds(position)) {
      endsMillis = Math.min(MAX_ENDS_MILLIS, 2 * endsMillis);
      read(0);
    }
  }

  // In a tail.

  /** Notes that the tail reads for it; it joins once it has reached the view's start. */
  void comesTo(LoopTail<P> other, LoopView<P> itsView) {
    tail = other;
    view = itsView;
    place = COMING;
  }

  /** Notes that the tail delivers pages to it from now on. */
  void joined(int place) {
    this.place = place;
    pauses = null;
    source = source.among(view.source());
    sharing = source.sharing();
    if (news != null) {
      news.close();
      listen();
    }
  }

  /** Notes the place to be given when it leaves; the last one counts. */
  void placed(int place) {
    this.place = place;
  }

  boolean isIn(LoopTail<P> other) {
    return tail == other && place != COMING;
  }

  private void leaveTail() {
    if (tail != null) {
      LoopTail<P> left = tail;
      tail = null;
      if (place == COMING) {
        left.expectNoMore(this, view);
      } else {
        left.leave(this, view, place);
      }
    }
  }

  /**
   * Reads up to where the tail began to read for it. If the position does not advance, it backs off
   * before the next attempt.
   */
  void readAgain() {
    pauses = pauses == null ? new JoinPauses<>() : pauses;
    long pauseMillis = pauses.refused(position);
    if (pauseMillis == 0) {
      read();
    } else {
      context.owner().setTimer(pauseMillis, id -> guarded(this::readIfComing));
    }
  }

  private void readIfComing() {
    if (state == State.WAITING_FOR_NEWS && (tail == null || place == COMING)) {
      read();
    }
  }

  /** Notes that the tail has come this far and has delivered all of its rows. */
  void passed(P from) {
    P mine = bound.filter(it -> it.compareTo(from) < 0).orElse(from);
    position = later(position, mine);
  }

  /** Leaves the tail, which no longer reads for it, until it has caught up. */
  void readAlone() {
    leaveTail();
    read();
  }

  /**
   * Takes a page from the tail, as far as there is room; leaves the tail if there is not enough.
   */
  void take(LivePage<P> whole) {
    LivePage<P> page = bound.map(whole::upTo).orElse(whole);
    boolean taken = handOver(page, sink.room());
    if (endsBehind(page)) {
      return;
    }
    if (!taken || !hasReached(page.next())) {
      readAlone();
    } else if (page.reachedEnd()) {
      caughtUp();
    }
  }

  /** Notes that the tail has come to {@code end}, at or after the bound. */
  void reachBound(P end) {
    take(new LivePage<>(Rows.none(), end, true, LivePage.NOT_COUNTED, Optional.empty()));
  }

  // Its position, and what is handed over.

  Context context() {
    return context;
  }

  P position() {
    return position;
  }

  Optional<P> bound() {
    return bound;
  }

  /**
   * Returns the position up to which all rows were handed over; the tail may have seen others that
   * are not for it. Null before it began.
   */
  P reached() {
    if (tail != null && place != COMING && tail.end() != null) {
      position = view.seat().quietTo(later(position, tail.end()));
    }
    return position;
  }

  private boolean hasReached(P other) {
    return position.compareTo(other) >= 0;
  }

  private void caughtUp() {
    hasCaughtUp = true;
    sink.caughtUp(position);
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
    pending = page.pendingBehind(to);
    remaining -= rows.changes(from, to);
    if (to > from) {
      endsMillis = ENDS_MILLIS;
      if (timer != null) {
        timer.restart();
      }
      feeds.delivers(rows, from, to, hasCaughtUp);
      sink.rows(rows, from, to);
    }
    return true;
  }

  /** Whether the client may see a page; if not, the feed is over now. */
  boolean maySee(SecurityObject whoMay) {
    boolean may = isAmong(whoMay);
    if (!may) {
      dismiss(client.user().notMember());
    }
    return may;
  }

  /** Whether the client is one of those who may see a page; usually they are as for the last. */
  boolean isAmong(SecurityObject whoMay) {
    boolean among = whoMay == knownReaders || FeedRights.includes(whoMay, client.user());
    knownReaders = among ? whoMay : knownReaders;
    return among;
  }

  // The end.

  private boolean endsBehind(LivePage<P> page) {
    if (!isOver() && remaining == 0) {
      finish(new FeedEnd.LimitReached());
    } else if (!isOver() && page.end().isPresent() && hasReached(page.next())) {
      finish(page.end().get());
    }
    return isOver();
  }

  /** Ends the feed in order: at once, or after the page being read has been handed over. */
  void end(FeedEnd reason) {
    switch (state) {
      case READING -> endReading(reason);
      case WAITING_FOR_STORE -> endUncounted(reason);
      case WAITING_FOR_ROOM, WAITING_FOR_NEWS -> {
        reached();
        finish(reason);
      }
      case ENDING, CLOSED -> {}
    }
  }

  /** A server that stops does not wait for a page that waits for a function. */
  private void endReading(FeedEnd reason) {
    ending = ending == null ? reason : ending;
    if (judged != null && reason instanceof FeedEnd.ServerStopping) {
      dropJudged();
      finish(ending);
    }
  }

  /** What follows is counted in the store only if no page has told, and the client is told. */
  private void finish(FeedEnd reason) {
    // A stopping server does not wait for the store any more.
    boolean isTold = position.tellsPending() && !(reason instanceof FeedEnd.ServerStopping);
    if (pending != LivePage.NOT_COUNTED || !isTold) {
      endUncounted(reason);
      return;
    }
    leaveTail();
    state = State.ENDING;
    P at = position;
    Dispatch.inTime(client.patience(), client.readers(), context, () -> source.pendingBehind(at))
        .onComplete(
            count -> guarded(() -> conclude(reason, count)),
            failure -> guarded(() -> endAfter(failure, reason)));
  }

  /** A count that failed for want of the store is no reason to break off a complete feed. */
  private void endAfter(Throwable failure, FeedEnd reason) {
    boolean isUnavailable =
        failure instanceof LectusException known
            && known.error() instanceof LectusError.Unavailable;
    if (isUnavailable || StoreFailures.isSilence(failure)) {
      endUncounted(reason);
    } else {
      fail(failure);
    }
  }

  private void endUncounted(FeedEnd reason) {
    conclude(reason, pending == LivePage.NOT_COUNTED ? SOME : pending);
  }

  private void conclude(FeedEnd reason, long following) {
    if (state != State.CLOSED) {
      close();
      sink.end(reason, position, following);
    }
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

  /** A feed that fails ends; it does not fall silent. */
  void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      fail(e);
    }
  }

  /** Ends at once, with an error. */
  void fail(Throwable failure) {
    if (state != State.CLOSED) {
      close();
      sink.fail(failure);
    }
  }

  /**
   * Closes the feed: the client has left, or has received everything. Nothing is handed over any
   * more.
   */
  void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    closing.run();
    dropJudged();
    feeds.remove(this);
    leaveTail();
    if (timer != null) {
      timer.stop();
    }
    if (session != null) {
      session.close();
    }
    if (news != null) {
      news.close();
    }
  }

  /** Whether nothing is handed over any more. */
  private boolean isOver() {
    return state == State.ENDING || state == State.CLOSED;
  }

  private static <P extends ResumePoint<P>> P later(P one, P other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  /**
   * The back-off of a listener that a tail did not admit: none if it has advanced since the last
   * attempt, else longer and longer, so that it does not read in a circle.
   */
  static final class JoinPauses<P extends ResumePoint<P>> {
    static final long FIRST_MILLIS = 50;
    static final long LONGEST_MILLIS = 5_000;

    private P refusedAt;
    private long nextMillis;

    /** Returns the milliseconds to wait before it reads on, 0 for none. */
    long refused(P position) {
      if (refusedAt == null || refusedAt.compareTo(position) != 0) {
        refusedAt = position;
        nextMillis = FIRST_MILLIS;
        return 0;
      }
      long pause = nextMillis;
      nextMillis = Math.min(2 * nextMillis, LONGEST_MILLIS);
      return pause;
    }
  }
}
