package lectus.http.changes;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.LiveSource.RowFilling;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.exchange.Dispatch;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Outbox;
import lectus.http.limits.PageMemory;
import lectus.json.JsonBuffer;

/** A live feed as the body of an HTTP answer, which lasts as long as the feed. */
final class FeedResponse<P extends ResumePoint<P>> implements FeedSink<P> {
  /** nginx would gather rows, and a listener would hear of them late. */
  private static final List<Reply.Header> AS_IT_COMES =
      List.of(new Reply.Header(Headers.ACCEL_BUFFERING, "no"));

  /** Bytes that may wait in memory for a slow client, beside the page being sent. */
  private static final int OUTBOX_BYTES = 256 << 10;

  private final LiveFeeds feeds;
  private final Exchange exchange;
  private final HttpServerResponse response;
  private final Outbox outbox;
  private final FeedForm form;
  private final FeedClient client;
  private final LiveListener<P> listener;
  private final PageMemory memory;
  private Optional<RowFilling> filling = Optional.empty();

  /** Rows with bytes of attachments on their way; null if there are none. */
  private FilledRows filled;

  /** Whether the head waits until it is known that something follows. */
  private boolean holdsHead;

  private boolean hasRows;
  private boolean over;

  private FeedResponse(
      LiveFeeds feeds, Exchange exchange, FeedForm form, FeedTerms terms, boolean isLive) {
    this.feeds = feeds;
    this.exchange = exchange;
    this.response = exchange.response();
    this.outbox = new Outbox(exchange.response(), OUTBOX_BYTES);
    this.form = form;
    this.holdsHead =
        !isLive || (form == FeedForm.EVENTSOURCE && exchange.lastEventId().isPresent());
    this.memory = new PageMemory(exchange.memory().pages());
    this.client = FeedClient.of(exchange);
    this.listener = new LiveListener<>(feeds, client, this, terms);
  }

  /**
   * @param query of a live feed, or of a normal one, which has the form of a long poll and ends by
   *     itself
   * @param opening runs on a feed reader's thread; its exception is answered
   */
  static <P extends ResumePoint<P>> void start(
      LiveFeeds feeds, Exchange exchange, FeedQuery<?> query, Callable<LiveStart<P>> opening) {
    FeedForm form = query.form().orElse(FeedForm.LONGPOLL);
    FeedResponse<P> feed = new FeedResponse<>(feeds, exchange, form, query.terms(), query.isLive());
    exchange.beginsFeed();
    exchange.whenLeft(feed::abandon);
    if (exchange.isAbandoned()) {
      feed.abandon();
    } else {
      feed.open(opening);
    }
  }

  private void open(Callable<LiveStart<P>> opening) {
    Dispatch.inTime(client.patience(), client.readers(), client.context(), opening)
        .onComplete(this::begin, listener::fail);
  }

  private void begin(LiveStart<P> start) {
    filling = start.source().filling();
    listener.begin(start);
  }

  /** Notes that the client has left; also called when it leaves after the feed's end. */
  private void abandon() {
    if (!over) {
      over = true;
      stopFilling();
      memory.noneComes();
      listener.close();
      exchange.abandoned();
    }
  }

  @Override
  public void begin(P from) {
    if (!holdsHead) {
      writeHead();
    }
  }

  private void releaseHead() {
    if (holdsHead) {
      holdsHead = false;
      writeHead();
    }
  }

  private void writeHead() {
    List<Reply.Header> headers = new ArrayList<>(AS_IT_COMES);
    if (form == FeedForm.EVENTSOURCE) {
      // As CouchDB does, and the specification of event streams asks for.
      headers.add(new Reply.Header(Headers.CACHE_CONTROL, "no-cache"));
    }
    exchange.writeStreamHead(200, form.contentType(), headers);
    response.setWriteQueueMaxSize(OUTBOX_BYTES);
    JsonBuffer head = new JsonBuffer(64);
    form.appendHead(head);
    if (head.length() > 0) {
      write(head);
    } else {
      exchange.sendHead();
    }
  }

  @Override
  public void rows(Rows<P> rows, int from, int to) {
    releaseHead();
    boolean first = !hasRows;
    hasRows = true;
    if (filling.isPresent()) {
      filled = new FilledRows(filling.get().fill(form.text(rows, from, to, first)));
      filled.goOn();
    } else {
      write(rows, from, to, first);
    }
  }

  private void write(Rows<P> rows, int from, int to, boolean first) {
    write(feeds.framedRows().bytes(form, rows, from, to, first));
  }

  private void write(Buffer page) {
    Future<Void> written = outbox.write(page);
    // Counted only now: if writing fails, nobody would release it.
    memory.sends(page.length());
    written.onComplete(sent -> memory.taken(page.length()));
  }

  @Override
  public long room() {
    return filled == null && !outbox.isFull() && memory.hasRoom() ? Long.MAX_VALUE : 0;
  }

  @Override
  public boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return memory.hasRoomFor(rows.bytes(from, to));
  }

  @Override
  public void whenRoom(Runnable again) {
    if (filled != null) {
      filled.whenRoom = again;
    } else if (outbox.isFull()) {
      outbox.whenRoom(again);
    } else {
      exchange.context().owner().setTimer(PageMemory.RETRY_MILLIS, timer -> again.run());
    }
  }

  @Override
  public void caughtUp(P at) {
    if (filled != null) {
      filled.next = () -> caughtUp(at);
      return;
    }
    releaseHead();
    memory.noneComes();
    if (form.isOneAnswer() && hasRows) {
      listener.close();
      end(new FeedEnd.LimitReached(), at, 0);
    }
  }

  @Override
  public void heartbeat(P at) {
    releaseHead();
    if (filled == null && !outbox.isFull()) {
      JsonBuffer beat = new JsonBuffer(64);
      form.appendHeartbeat(at, beat);
      write(beat);
    }
  }

  @Override
  public void end(FeedEnd reason, P at, long pending) {
    if (filled == null) {
      endNow(reason, at, pending);
    } else if (reason instanceof FeedEnd.NotAllowed refused) {
      fail(new LectusException(refused.why()));
    } else {
      filled.next = () -> endNow(reason, at, pending);
    }
  }

  private void endNow(FeedEnd reason, P at, long pending) {
    over = true;
    memory.noneComes();
    exchange.guarded(
        () -> {
          if (holdsHead && form == FeedForm.EVENTSOURCE && isLast(reason)) {
            sendAway();
          } else if (holdsHead && reason.error().isPresent()) {
            exchange.fail(new LectusException(reason.error().get()));
          } else {
            releaseHead();
            writeEnd(reason, at, pending);
          }
        });
  }

  /** Whether a browser that comes again would be shown nothing more. */
  private static boolean isLast(FeedEnd reason) {
    return reason instanceof FeedEnd.Resharded || reason instanceof FeedEnd.UntilReached;
  }

  /** A browser that has received everything must not reconnect: HTML, Server-sent events, 9.2.3. */
  private void sendAway() {
    exchange.reply(Reply.empty(204));
  }

  private void writeEnd(FeedEnd reason, P at, long pending) {
    JsonBuffer tail = new JsonBuffer(128);
    form.appendEnd(reason, at, pending, tail);
    Outbox.end(response, bytes(tail));
    exchange.streamed();
  }

  @Override
  public void fail(Throwable failure) {
    over = true;
    stopFilling();
    memory.noneComes();
    exchange.fail(failure);
  }

  /** Its listener may have ended already, and have left the rest to the rows that are sent. */
  private void breakOff(Throwable failure) {
    listener.close();
    fail(failure);
  }

  private void write(JsonBuffer json) {
    outbox.write(bytes(json));
  }

  private static Buffer bytes(JsonBuffer json) {
    return Buffer.buffer(json.length()).appendBytes(json.array(), 0, json.length());
  }

  /** Sends no more: the client has left, or may see no more. */
  private void stopFilling() {
    if (filled != null) {
      filled = null;
      memory.noneComes();
      memory.keeps(0);
    }
  }

  /**
   * Rows with bytes of attachments on their way to the client: part by part, as the client takes
   * them. Nothing else may be written meanwhile.
   */
  private final class FilledRows {
    private static final int FIRST_CAPACITY = 16 << 10;

    private final PagedBody body;

    /** What is to be done once the rows are sent; only the latest counts. */
    private Runnable next = () -> {};

    /** What is to be done then, if there is room for other rows. */
    private Runnable whenRoom = () -> {};

    private record Part(Buffer bytes, long kept, boolean more) {}

    FilledRows(PagedBody body) {
      this.body = body;
      memory.keeps(body.keptBytes());
    }

    private void goOn() {
      if (filled != this) {
        return;
      }
      if (outbox.isFull()) {
        outbox.whenRoom(this::goOn);
      } else if (!memory.hasRoom()) {
        client.context().owner().setTimer(PageMemory.RETRY_MILLIS, timer -> goOn());
      } else {
        Dispatch.to(client.laterReaders(), client.context(), this::read)
            .onComplete(this::send, this::fail);
      }
    }

    private Part read() {
      JsonBuffer out = new JsonBuffer(FIRST_CAPACITY);
      boolean more = body.appendNext(out);
      return new Part(FeedResponse.bytes(out), body.keptBytes(), more);
    }

    private void send(Part part) {
      if (filled != this) {
        return;
      }
      try {
        write(part.bytes);
        memory.keeps(part.more ? part.kept : 0);
        if (part.more) {
          goOn();
        } else {
          filled = null;
          next.run();
          whenRoom.run();
        }
      } catch (RuntimeException | Error e) {
        fail(e);
      }
    }

    private void fail(Throwable failure) {
      if (filled == this) {
        breakOff(failure);
      }
    }
  }
}
