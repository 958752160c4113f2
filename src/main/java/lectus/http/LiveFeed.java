package lectus.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.feed.ChangesReader;
import lectus.feed.FeedPage;
import lectus.feed.FeedPosition;
import lectus.feed.FeedText;
import lectus.json.JsonBuffer;

/**
 * One client's long poll or continuous feed. It reads pages until it has caught up, then sleeps
 * until it hears of a sequence beyond the level it had heard of when it began to read, which no
 * event can slip between.
 *
 * <p>All state belongs to the connection's event loop, but for {@link #heard} and {@link
 * #wakening}, which listeners' events set from other threads.
 */
final class LiveFeed implements DatabaseEvents.Listener {
  private static final int WRITE_QUEUE_BYTES = 256 << 10;

  private final Exchange exchange;
  private final DatabaseName database;
  private final ChangesQuery query;
  private final ChangesReader changes;
  private final FeedTimers timers;
  private final AtomicReference<Sequence> heard = new AtomicReference<>();
  private final AtomicBoolean wakening = new AtomicBoolean();

  private DatabaseHandle life;
  private DatabaseEvents.Registration registration;
  private FeedPosition position;
  private long remaining;
  private long pending;
  private long rowsSent;
  private boolean reading;
  private boolean ending;
  private boolean closed;

  LiveFeed(Exchange exchange, DatabaseName database, ChangesQuery query) {
    this.exchange = exchange;
    this.database = database;
    this.query = query;
    this.changes = exchange.api().services().changes();
    this.remaining = query.limit();
    this.timers = new FeedTimers(exchange, query, this::sendHeartbeat, this::end);
  }

  void start() {
    exchange.response().closeHandler(none -> close());
    exchange.response().exceptionHandler(failure -> close());
    exchange.feedWork(this::open).onComplete(this::begin, exchange::fail);
  }

  private record Opened(DatabaseHandle life, FeedPosition position) {}

  private Opened open() {
    DatabaseHandle handle = exchange.api().services().catalogue().open(database);
    return new Opened(handle, changes.position(database, query.since()));
  }

  private void begin(Opened opened) {
    if (closed) {
      return;
    }
    life = opened.life();
    position = opened.position();
    registration = exchange.api().services().events().listen(life, this);
    ending = !exchange.api().liveFeeds().add(this);
    writeHead();
    timers.start();
    read();
  }

  private void writeHead() {
    HttpServerResponse response = exchange.response();
    exchange.writeHead(200, Headers.JSON, List.of());
    response.setChunked(true).setWriteQueueMaxSize(WRITE_QUEUE_BYTES);
    if (isLongPoll()) {
      JsonBuffer head = new JsonBuffer(64);
      FeedText.appendHead(head);
      write(head);
    } else {
      response.writeHead();
    }
  }

  private boolean isLongPoll() {
    return query.feed() == ChangesQuery.Feed.LONGPOLL;
  }

  private void read() {
    reading = true;
    Sequence level = heard.get();
    FeedPosition from = position;
    exchange.feedWork(() -> readPage(from)).onComplete(read -> send(read, level), this::readFailed);
  }

  private record Read(FeedPage page, JsonBuffer rows) {}

  /**
   * A page read before its database is seen to live on is a page of that life: instances never come
   * back.
   */
  private Read readPage(FeedPosition from) {
    JsonBuffer rows = new JsonBuffer(1_024);
    if (isLongPoll() && rowsSent > 0) {
      FeedText.appendSeparator(rows);
    }
    FeedPage page = changes.page(database, query.options(), from, remaining, rows);
    DatabaseHandle handle = exchange.api().services().catalogue().open(database);
    if (!handle.instance().equals(life.instance())) {
      throw LectusException.notFound("Database does not exist.");
    }
    return new Read(page, rows);
  }

  private void send(Read read, Sequence levelBefore) {
    reading = false;
    if (closed) {
      return;
    }
    FeedPage page = read.page();
    position = page.next();
    pending = page.pending();
    if (page.rows() > 0) {
      rowsSent += page.rows();
      remaining -= page.rows();
      timers.restart();
      write(read.rows());
    }
    goOn(page, levelBefore);
  }

  private void goOn(FeedPage page, Sequence levelBefore) {
    boolean caughtUp = page.reachedEnd() && !isBeyond(heard.get(), levelBefore);
    boolean answered = isLongPoll() && rowsSent > 0 && page.reachedEnd();
    if (ending || remaining <= 0 || answered) {
      finish();
    } else if (!caughtUp) {
      readWhenDrained();
    }
  }

  private void readWhenDrained() {
    HttpServerResponse response = exchange.response();
    if (response.writeQueueFull()) {
      reading = true;
      response.drainHandler(drained -> read());
    } else {
      read();
    }
  }

  private static boolean isBeyond(Sequence level, Sequence before) {
    return level != null && (before == null || level.compareTo(before) > 0);
  }

  /** The database is gone: whatever was read of it was sent, so the feed ends in order. */
  private void readFailed(Throwable failure) {
    reading = false;
    boolean gone =
        failure instanceof LectusException expected
            && expected.error() instanceof LectusError.NotFound;
    if (gone && !closed) {
      finish();
    } else if (!closed) {
      close();
      exchange.fail(failure);
    }
  }

  @Override
  public void updated(Sequence highest) {
    Sequence before = heard.getAndAccumulate(highest, LiveFeed::higher);
    if (isBeyond(highest, before) && wakening.compareAndSet(false, true)) {
      exchange.context().runOnContext(none -> wake());
    }
  }

  private static Sequence higher(Sequence known, Sequence news) {
    return isBeyond(news, known) ? news : known;
  }

  @Override
  public void deleted() {
    exchange.context().runOnContext(none -> end());
  }

  private void wake() {
    wakening.set(false);
    boolean news = isBeyond(heard.get(), position.sequence().orElse(null));
    if (!closed && !reading && news) {
      read();
    }
  }

  /** Ends in order: at once, or when the page being read has been sent. */
  void end() {
    ending = true;
    if (!closed && !reading) {
      finish();
    }
  }

  private void finish() {
    JsonBuffer tail = new JsonBuffer(128);
    if (isLongPoll()) {
      FeedText.appendTail(position, pending, tail);
    } else {
      FeedText.appendLastLine(position, pending, tail);
    }
    close();
    exchange.response().end(bytes(tail));
    exchange.streamed();
  }

  private void sendHeartbeat() {
    if (!exchange.response().writeQueueFull()) {
      write(new JsonBuffer(64).octet('\n'));
    }
  }

  private void write(JsonBuffer json) {
    exchange.response().write(bytes(json));
  }

  private static Buffer bytes(JsonBuffer json) {
    return Buffer.buffer(json.length()).appendBytes(json.array(), 0, json.length());
  }

  private void close() {
    if (closed) {
      return;
    }
    closed = true;
    timers.stop();
    exchange.api().liveFeeds().remove(this);
    if (registration != null) {
      registration.close();
    }
  }
}
