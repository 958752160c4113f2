package lectus.http.live;

import io.vertx.core.Context;
import java.util.concurrent.Callable;
import lectus.feed.FeedEnd;
import lectus.feed.FeedSink;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.LiveStart;
import lectus.feed.Registration;
import lectus.feed.ResumePoint;
import lectus.feed.Rows;
import lectus.http.clock.IdleClock;
import lectus.http.exchange.Offload;

/**
 * One listener of a live source. It reads pages on its own until it has caught up, then joins the
 * live tail that is read for all; when its client does not take rows as fast as they come, it
 * leaves the tail and reads on its own again, a page whenever there is room. What it was handed is
 * a position, from which it goes on whoever reads, so nothing is lost and nothing comes twice.
 *
 * <p>A source that cannot be shared it reads on its own all the time. For the connection's event
 * loop.
 */
final class LiveListener<P extends ResumePoint<P>> {
  private final LiveFeeds feeds;
  private final Context context;
  private final FeedSink<P> sink;
  private final FeedTerms terms;

  private LiveSource<P> source;
  private P position;
  private long remaining;
  private long pending;

  private State state = State.READING;

  /** Why it ends as soon as the page being read was handed over. */
  private FeedEnd ending;

  private IdleClock.Timer timer;

  /** Null while it reads on its own. */
  private LoopTail<P> tail;

  private int place;

  /** Null unless the source cannot be shared. */
  private NewsBell bell;

  private Registration registration;

  private enum State {
    /** A page comes from a reader's thread. */
    READING,
    WAITING_FOR_ROOM,
    WAITING_FOR_NEWS,
    CLOSED
  }

  /**
   * @param context of the connection
   */
  LiveListener(LiveFeeds feeds, Context context, FeedSink<P> sink, FeedTerms terms) {
    this.feeds = feeds;
    this.context = context;
    this.sink = sink;
    this.terms = terms;
    this.remaining = terms.limit();
  }

  /**
   * @param opening runs on a feed reader's thread; what it throws, the sink is told
   */
  void start(Callable<LiveStart<P>> opening) {
    Offload.to(feeds.readers(), context, opening).onComplete(this::begin, this::fail);
  }

  /** As {@link #start(Callable)}, with what is open already. */
  void begin(LiveStart<P> start) {
    if (!isClosed()) {
      guarded(() -> beginReading(start));
    }
  }

  private void beginReading(LiveStart<P> start) {
    source = start.source();
    position = start.from();
    if (!feeds.add(this)) {
      ending = new FeedEnd.ServerStopping();
    }
    sink.begin(position);
    startTimer();
    readOn();
  }

  private void startTimer() {
    if (terms.heartbeatMillis().isPresent()) {
      long pause =
          Math.min(terms.heartbeatMillis().getAsLong(), feeds.settings().longestSilenceMillis());
      timer = feeds.clock().start(context.owner(), pause, sink::heartbeat);
    } else if (terms.timeoutMillis().isPresent()) {
      long patience = Math.max(1, terms.timeoutMillis().getAsLong());
      Runnable timeout = () -> end(new FeedEnd.TimedOut());
      timer = feeds.clock().start(context.owner(), patience, timeout);
    }
  }

  private void restartTimer() {
    if (timer != null) {
      timer.restart();
    }
  }

  /** Reads a page on its own, as soon as the client takes more. */
  private void read() {
    long room = sink.room();
    if (room > 0) {
      // With a limit of 0, too, the page tells what is pending.
      read(Math.max(1, Math.min(remaining, room)));
    } else {
      state = State.WAITING_FOR_ROOM;
      sink.whenRoom(() -> guarded(this::readOn));
    }
  }

  private void readOn() {
    if (!isClosed()) {
      read();
    }
  }

  private void read(long limit) {
    state = State.READING;
    if (bell != null) {
      bell.look();
    }
    P from = position;
    Offload.to(feeds.readers(), context, () -> source.page(from, limit))
        .onComplete(page -> guarded(() -> takeOwn(page)), this::fail);
  }

  /** A feed that goes wrong ends; it does not fall silent. */
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  /** There was room for the page when it was asked for. */
  private void takeOwn(LivePage<P> page) {
    if (isClosed()) {
      return;
    }
    handOver(page, Long.MAX_VALUE);
    if (endsBehind(page)) {
      return;
    }
    if (ending != null) {
      finish(ending);
    } else if (page.reachedEnd()) {
      sink.caughtUp(position);
      waitForNews();
    } else {
      read();
    }
  }

  private void waitForNews() {
    if (isClosed()) {
      return;
    }
    state = State.WAITING_FOR_NEWS;
    if (source.identity().isEmpty()) {
      waitAlone();
    } else if (!feeds.join(this, source)) {
      read();
    }
  }

  /** Whoever listens registers before its last look. */
  private void waitAlone() {
    if (bell == null) {
      bell = new NewsBell(context, () -> guarded(this::wakeAlone));
      registration = source.listen(bell);
      read();
    } else {
      wakeAlone();
    }
  }

  private void wakeAlone() {
    if (state == State.WAITING_FOR_NEWS && bell.look() && source.hasNews(position)) {
      read();
    }
  }

  P position() {
    return position;
  }

  Context context() {
    return context;
  }

  /**
   * @param tail gives it pages from now on
   * @param place to be told when it leaves; the last one told counts
   */
  void joined(LoopTail<P> tail, int place) {
    this.tail = tail;
    this.place = place;
    this.source = tail.source();
  }

  boolean isIn(LoopTail<P> other) {
    return tail == other;
  }

  /**
   * Takes a page from the tail, as far as there is room; leaves the tail if there is not enough.
   */
  void take(LivePage<P> page) {
    handOver(page, sink.room());
    if (endsBehind(page)) {
      return;
    }
    if (!hasReached(page.next())) {
      leaveTail();
      read();
    } else if (page.reachedEnd()) {
      sink.caughtUp(position);
    }
  }

  /** Hands over what of a page lies behind the position. */
  private void handOver(LivePage<P> page, long room) {
    Rows<P> rows = page.rows();
    int from = rows.firstBehind(position);
    int to = from + (int) Math.min(rows.size() - from, Math.min(remaining, room));
    P reached = to == rows.size() ? page.next() : to == 0 ? position : rows.at(to - 1);
    position = later(position, reached);
    pending = page.pending() + rows.size() - to;
    remaining -= to - from;
    if (to > from) {
      restartTimer();
      sink.rows(rows, from, to);
    }
  }

  /** Whether the feed is over now. */
  private boolean endsBehind(LivePage<P> page) {
    if (!isClosed() && remaining == 0) {
      finish(new FeedEnd.LimitReached());
    } else if (!isClosed() && page.end().isPresent() && hasReached(page.next())) {
      finish(page.end().get());
    }
    return isClosed();
  }

  private boolean hasReached(P other) {
    return position.compareTo(other) >= 0;
  }

  /** Ends in order: at once, or when the page being read has been handed over. */
  void end(FeedEnd reason) {
    if (state == State.READING) {
      ending = ending == null ? reason : ending;
    } else if (!isClosed()) {
      position = reached();
      finish(reason);
    }
  }

  /** All rows up to here were handed over; the tail may have seen others that are not for it. */
  P reached() {
    return tail == null ? position : later(position, tail.end());
  }

  private void finish(FeedEnd reason) {
    close();
    sink.end(reason, position, pending);
  }

  /** Ends at once, with an error. */
  void fail(Throwable failure) {
    if (!isClosed()) {
      close();
      sink.fail(failure);
    }
  }

  /** The client is gone, or has heard all it wanted: nothing is handed over any more. */
  void close() {
    if (isClosed()) {
      return;
    }
    state = State.CLOSED;
    feeds.remove(this);
    leaveTail();
    if (timer != null) {
      timer.stop();
    }
    if (registration != null) {
      registration.close();
    }
  }

  private boolean isClosed() {
    return state == State.CLOSED;
  }

  private void leaveTail() {
    if (tail != null) {
      LoopTail<P> left = tail;
      tail = null;
      left.leave(place);
    }
  }

  private static <P extends ResumePoint<P>> P later(P one, P other) {
    return one.compareTo(other) < 0 ? other : one;
  }
}
