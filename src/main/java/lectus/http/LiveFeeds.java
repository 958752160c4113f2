package lectus.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import lectus.feed.FeedEnd;
import lectus.feed.LiveSource;
import lectus.feed.LiveTails;
import lectus.feed.ResumePoint;

/** The live feeds of one event loop, and what they share there. */
final class LiveFeeds {
  private final Executor readers;
  private final LiveTails serverTails;
  private final long longestSilenceMillis;
  private final IdleClock clock = new IdleClock();
  private final FramedRows framedRows = new FramedRows();
  private final RowMessages rowMessages = new RowMessages();
  private final Set<LiveListener<?>> listeners = new HashSet<>();
  private final Map<Object, LoopTail<?>> tails = new HashMap<>();
  private boolean ending;

  /**
   * @param readers runs the reading of pages
   * @param idleTimeoutSeconds after which a connection without traffic is closed; 0: never
   */
  LiveFeeds(Executor readers, LiveTails serverTails, int idleTimeoutSeconds) {
    this.readers = readers;
    this.serverTails = serverTails;
    this.longestSilenceMillis =
        idleTimeoutSeconds == 0 ? Long.MAX_VALUE : idleTimeoutSeconds * 500L;
  }

  Executor readers() {
    return readers;
  }

  IdleClock clock() {
    return clock;
  }

  FramedRows framedRows() {
    return framedRows;
  }

  RowMessages rowMessages() {
    return rowMessages;
  }

  /** A connection without traffic is closed, so its heart has to beat before. */
  long longestSilenceMillis() {
    return longestSilenceMillis;
  }

  /** False when the server is stopping: the feed then ends after what there is to read. */
  boolean add(LiveListener<?> listener) {
    listeners.add(listener);
    return !ending;
  }

  void remove(LiveListener<?> listener) {
    listeners.remove(listener);
  }

  int count() {
    return listeners.size();
  }

  /**
   * Hands a listener all that a source has to tell behind its position.
   *
   * @param source one that can be shared
   * @return false if others are too far ahead, so that it has to read on its own
   */
  <P extends ResumePoint<P>> boolean join(LiveListener<P> listener, LiveSource<P> source) {
    Object identity = source.identity().orElseThrow();
    LoopTail<?> tail =
        tails.computeIfAbsent(
            identity,
            absent ->
                new LoopTail<>(
                    serverTails, source, listener.context(), () -> tails.remove(identity)));
    return LiveFeeds.<P>typed(tail).join(listener);
  }

  /** Sources of one identity have the same kind of points. */
  @SuppressWarnings("unchecked")
  private static <P extends ResumePoint<P>> LoopTail<P> typed(LoopTail<?> tail) {
    return (LoopTail<P>) tail;
  }

  void endAll() {
    ending = true;
    List<LiveListener<?>> open = new ArrayList<>(listeners);
    open.forEach(listener -> listener.end(new FeedEnd.ServerStopping()));
  }
}
