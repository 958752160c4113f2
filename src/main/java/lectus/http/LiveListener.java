package lectus.http;

import io.vertx.core.Context;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.feed.FeedEnd;
import lectus.feed.FeedSink;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.LiveStart;
import lectus.feed.Registration;
import lectus.feed.ResumePoint;

/**
 * One listener of a live source. It reads pages until it has caught up, then sleeps until it is
 * told of news; told while it reads, it looks once more, so nothing can slip between.
 *
 * <p>All state belongs to the connection's event loop, but for {@link #told}, which is set from
 * other threads.
 */
final class LiveListener<P extends ResumePoint<P>> {
  private final LiveFeeds feeds;
  private final Context context;
  private final FeedSink<P> sink;
  private final FeedTimers timers;
  private final AtomicBoolean told = new AtomicBoolean();

  private LiveSource<P> source;
  private Registration registration;
  private P position;
  private long remaining;
  private long pending;
  private boolean busy;
  private FeedEnd ending;
  private boolean closed;

  /**
   * @param context of the connection
   */
  LiveListener(LiveFeeds feeds, Context context, FeedSink<P> sink, FeedTerms terms) {
    this.feeds = feeds;
    this.context = context;
    this.sink = sink;
    this.remaining = terms.limit();
    this.timers =
        new FeedTimers(
            context.owner(),
            terms,
            feeds.longestSilenceMillis(),
            sink::heartbeat,
            () -> end(new FeedEnd.TimedOut()));
  }

  /**
   * @param opening runs on a feed reader's thread; what it throws, the sink is told
   */
  void start(Callable<LiveStart<P>> opening) {
    Offload.to(feeds.readers(), context, opening).onComplete(this::begin, this::fail);
  }

  private void begin(LiveStart<P> start) {
    if (closed) {
      return;
    }
    source = start.source();
    position = start.from();
    registration = source.listen(this::tell);
    if (!feeds.add(this)) {
      ending = new FeedEnd.ServerStopping();
    }
    sink.begin(position);
    timers.start();
    read();
  }

  private void tell() {
    if (told.compareAndSet(false, true)) {
      context.runOnContext(none -> wake());
    }
  }

  private void wake() {
    if (!closed && !busy && hasNews()) {
      read();
    }
  }

  private boolean hasNews() {
    return told.getAndSet(false) && source.hasNews(position);
  }

  /** Reads when the client takes more. */
  private void read() {
    busy = true;
    long room = sink.room();
    if (room > 0) {
      read(Math.max(1, Math.min(remaining, room)));
    } else {
      sink.whenRoom(this::goOnReading);
    }
  }

  private void goOnReading() {
    if (!closed) {
      read();
    }
  }

  private void read(long limit) {
    told.set(false);
    P from = position;
    Offload.to(feeds.readers(), context, () -> source.page(from, limit))
        .onComplete(this::take, this::fail);
  }

  private void take(LivePage<P> page) {
    if (closed) {
      return;
    }
    busy = false;
    int rows = (int) Math.min(remaining, page.rows().size());
    position = rows < page.rows().size() ? position : page.next();
    pending = page.pending() + page.rows().size() - rows;
    if (rows > 0) {
      remaining -= rows;
      timers.restart();
      sink.rows(page.rows(), 0, rows);
    }
    if (remaining == 0) {
      finish(new FeedEnd.LimitReached());
    } else if (page.end().isPresent()) {
      finish(page.end().get());
    } else {
      goOn(page.reachedEnd());
    }
  }

  private void goOn(boolean reachedEnd) {
    if (reachedEnd && !hasNews()) {
      sink.caughtUp(position);
      finishIfEnding();
    } else if (!finishIfEnding()) {
      read();
    }
  }

  private boolean finishIfEnding() {
    if (!closed && ending != null) {
      finish(ending);
    }
    return closed;
  }

  /** Ends in order: at once, or when the page being read has been handed over. */
  void end(FeedEnd reason) {
    if (ending == null) {
      ending = reason;
    }
    if (!closed && !busy) {
      finish(ending);
    }
  }

  private void finish(FeedEnd reason) {
    if (!closed) {
      close();
      sink.end(reason, position, pending);
    }
  }

  private void fail(Throwable failure) {
    if (!closed) {
      close();
      sink.fail(failure);
    }
  }

  /** The client is gone, or has heard all it wanted: nothing is handed over any more. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    timers.stop();
    feeds.remove(this);
    if (registration != null) {
      registration.close();
    }
  }
}
