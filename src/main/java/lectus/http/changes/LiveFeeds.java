package lectus.http.changes;

import io.vertx.core.http.ServerWebSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.FeedEnd;
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
  private final DeliveryMetrics metrics;
  private final HttpSettings settings;
  private final IdleClock clock = new IdleClock();
  private final FeedForm.Framed framedRows = new FeedForm.Framed();
  private final FeedSocket.RowMessages rowMessages = new FeedSocket.RowMessages();
  final Set<LiveListener<?>> listeners = new HashSet<>();
  private final Map<Object, LoopTail<?>> tails = new HashMap<>();
  private boolean ending;

  public LiveFeeds(
      TailRegistry serverTails,
      SessionNotifications admissions,
      DeliveryMetrics metrics,
      HttpSettings settings) {
    this.metrics = metrics;
    this.serverTails = serverTails;
    this.admissions = admissions;
    this.settings = settings;
  }

  /**
   * Answers a request with a live feed: a WebSocket if it asks for one, else a body that lasts as
   * long as the feed.
   *
   * @param query of a feed that waits for nothing before it ends, if it is not of a live one
   * @param opening runs on a feed reader's thread; its exception is answered
   */
  public <P extends ResumePoint<P>> void serve(
      Exchange exchange, FeedQuery<?> query, Callable<LiveStart<P>> opening) {
    if (new WebSocketUpgrade(exchange).isWanted()) {
      FeedSocket.start(this, exchange, query, opening);
    } else {
      FeedResponse.start(this, exchange, query, opening);
    }
  }

  public IdleClock clock() {
    return clock;
  }

  public SessionNotifications admissions() {
    return admissions;
  }

  FeedForm.Framed framedRows() {
    return framedRows;
  }

  FeedSocket.RowMessages rowMessages() {
    return rowMessages;
  }

  HttpSettings settings() {
    return settings;
  }

  /**
   * Counts rows that a feed delivers. How late they are is told once the feed has caught up: what
   * it reads before was written before anybody asked for it.
   */
  void delivers(Rows<?> rows, int from, int to, boolean hasCaughtUp) {
    metrics.sent(to - from);
    int first = hasCaughtUp ? from : to;
    while (first < to) {
      long version = rows.at(first).commitVersion();
      int behind = first + 1;
      while (behind < to && rows.at(behind).commitVersion() == version) {
        behind++;
      }
      metrics.delivered(version, behind - first);
      first = behind;
    }
  }

  /** Returns false if the server is stopping: the feed then ends after the existing rows. */
  boolean add(LiveListener<?> listener) {
    if (listeners.add(listener)) {
      metrics.opened();
    }
    return !ending;
  }

  void remove(LiveListener<?> listener) {
    if (listeners.remove(listener)) {
      metrics.closed();
    }
  }

  /**
   * Returns the socket of a client for which a request was upgraded.
   *
   * @param pingMillis the interval of pings that the client asked for; empty: the usual one
   */
  TextSocket socket(Exchange exchange, ServerWebSocket upgraded, OptionalLong pingMillis) {
    return new TextSocket(
        exchange.context().owner(),
        clock,
        upgraded,
        settings.webSockets(),
        exchange.memory().messages(),
        settings.pingMillis(pingMillis),
        metrics::gaveUp);
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
}
