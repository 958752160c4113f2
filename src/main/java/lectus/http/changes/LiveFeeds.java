package lectus.http.changes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.changes.page.SessionNotifications;
import lectus.http.HttpSettings;
import lectus.http.exchange.DeliveryMetrics;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.limits.IdleClock;

/** The live feeds of one event loop, and what they share there. */
public final class LiveFeeds {
  private final TailRegistry serverTails;
  private final SessionNotifications admissions;
  private final DeliveryMetrics figures;
  private final HttpSettings settings;
  private final IdleClock clock = new IdleClock();
  private final FramedRows framedRows = new FramedRows();
  private final RowMessages rowMessages = new RowMessages();
  private final Set<LiveListener<?>> listeners = new HashSet<>();
  private final Map<Object, LoopTail<?>> tails = new HashMap<>();
  private boolean ending;

  public LiveFeeds(
      TailRegistry serverTails,
      SessionNotifications admissions,
      DeliveryMetrics figures,
      HttpSettings settings) {
    this.figures = figures;
    this.serverTails = serverTails;
    this.admissions = admissions;
    this.settings = settings;
  }

  /**
   * Answers a request with a live feed: a WebSocket if it asks for one, else a body that lasts as
   * long as the feed.
   *
   * @param query of a live feed, unless the request asks for a WebSocket
   * @param opening runs on a feed reader's thread; its exception is answered
   */
  public <P extends ResumePoint<P>> void serve(
      Exchange exchange, FeedQuery query, Callable<LiveStart<P>> opening) {
    if (new WebSocketUpgrade(exchange).isWanted()) {
      FeedSocket.start(this, exchange, query, opening);
    } else {
      FeedResponse.start(this, exchange, query, opening);
    }
  }

  /** Returns the clock of all timers of this event loop's connections. */
  public IdleClock clock() {
    return clock;
  }

  /** Returns what tells that a client is not admitted any more. */
  public SessionNotifications admissions() {
    return admissions;
  }

  FramedRows framedRows() {
    return framedRows;
  }

  RowMessages rowMessages() {
    return rowMessages;
  }

  HttpSettings settings() {
    return settings;
  }

  /** Returns a sink that counts what it passes on. */
  <P extends ResumePoint<P>> FeedSink<P> counted(FeedSink<P> sink) {
    return new CountedSink<>(sink, figures);
  }

  /** Returns false if the server is stopping: the feed then ends after the existing rows. */
  boolean add(LiveListener<?> listener) {
    if (listeners.add(listener)) {
      figures.opened();
    }
    return !ending;
  }

  void remove(LiveListener<?> listener) {
    if (listeners.remove(listener)) {
      figures.closed();
    }
  }

  /** Counts a client of a socket to or from which nothing moved. */
  public void gaveUp() {
    figures.gaveUp();
  }

  public int count() {
    return listeners.size();
  }

  /**
   * Joins a listener to the shared tail, which hands it everything after its position.
   *
   * @param sharing of its source
   * @return false if it has to read on its own once more
   */
  <P extends ResumePoint<P>> boolean join(
      LiveListener<P> listener, LiveSource<P> source, Sharing<P> sharing) {
    Object identity = sharing.tail();
    LoopTail<?> tail =
        tails.computeIfAbsent(
            identity,
            absent ->
                new LoopTail<P>(
                    serverTails, listener.context(), over -> tails.remove(identity, over)));
    return LiveFeeds.<P>typed(tail).join(listener, source, sharing);
  }

  /** Sources that are read together have points of the same type. */
  @SuppressWarnings("unchecked")
  private static <P extends ResumePoint<P>> LoopTail<P> typed(LoopTail<?> tail) {
    return (LoopTail<P>) tail;
  }

  public void endAll() {
    ending = true;
    List<LiveListener<?>> open = new ArrayList<>(listeners);
    open.forEach(listener -> listener.end(new FeedEnd.ServerStopping()));
  }

  /**
   * Counts what a feed delivers. How late rows are is told once the feed has caught up: what it
   * reads before was written before anybody asked for it.
   */
  private static final class CountedSink<P extends ResumePoint<P>> implements FeedSink<P> {
    private final FeedSink<P> sink;
    private final DeliveryMetrics figures;
    private boolean hasCaughtUp;

    CountedSink(FeedSink<P> sink, DeliveryMetrics figures) {
      this.sink = sink;
      this.figures = figures;
    }

    @Override
    public void rows(Rows<P> rows, int from, int to) {
      figures.sent(to - from);
      if (hasCaughtUp) {
        countByCommit(rows, from, to);
      }
      sink.rows(rows, from, to);
    }

    private void countByCommit(Rows<P> rows, int from, int to) {
      int first = from;
      while (first < to) {
        long version = rows.at(first).commitVersion();
        int behind = first + 1;
        while (behind < to && rows.at(behind).commitVersion() == version) {
          behind++;
        }
        figures.delivered(version, behind - first);
        first = behind;
      }
    }

    @Override
    public void caughtUp(P at) {
      hasCaughtUp = true;
      sink.caughtUp(at);
    }

    @Override
    public void begin(P from) {
      sink.begin(from);
    }

    @Override
    public long room() {
      return sink.room();
    }

    @Override
    public boolean lacksRequestsOnly() {
      return sink.lacksRequestsOnly();
    }

    @Override
    public boolean hasMemoryFor(Rows<P> rows, int from, int to) {
      return sink.hasMemoryFor(rows, from, to);
    }

    @Override
    public void whenRoom(Runnable again) {
      sink.whenRoom(again);
    }

    @Override
    public void readOn() {
      sink.readOn();
    }

    @Override
    public void heartbeat(P at) {
      sink.heartbeat(at);
    }

    @Override
    public void end(FeedEnd reason, P at, long pending) {
      sink.end(reason, at, pending);
    }

    @Override
    public void fail(Throwable failure) {
      sink.fail(failure);
    }
  }
}
