package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import lectus.http.message.Headers;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * Sends an answer of any length: a part is read on a reader's thread, written on the event loop,
 * and the next one is read when the socket has taken most of it. No thread waits for a client, and
 * when the client is gone nothing more is read.
 */
final class ResponseStream {
  /** What may lie in memory for a slow client, in bytes, beside the part being read. */
  private static final int OUTBOX_BYTES = 256 << 10;

  private static final int FIRST_CAPACITY = 16 << 10;

  private final Exchange exchange;
  private final Callable<StreamedBody> making;
  private final Executor readers;
  private final Outbox outbox;

  /** Touched on readers' threads only, one after the other. */
  private StreamedBody body;

  private boolean begun;

  /** For the client to take what was written. */
  private boolean waiting;

  private boolean gone;

  /**
   * @param making runs on a reader's thread, too
   */
  ResponseStream(Exchange exchange, Callable<StreamedBody> making, Executor readers) {
    this.exchange = exchange;
    this.making = making;
    this.readers = readers;
    this.outbox = new Outbox(exchange.response(), OUTBOX_BYTES);
  }

  void start() {
    HttpServerResponse response = exchange.response();
    response.setWriteQueueMaxSize(OUTBOX_BYTES);
    response.closeHandler(none -> leave());
    response.exceptionHandler(failure -> leave());
    if (exchange.isAbandoned()) {
      exchange.abandoned();
    } else {
      readNext();
    }
  }

  /** The client is gone; a part that is being read is the last one. */
  private void leave() {
    gone = true;
    if (waiting) {
      waiting = false;
      exchange.abandoned();
    }
  }

  private void readNext() {
    exchange.workOn(readers, this::nextPart).onComplete(this::send, exchange::fail);
  }

  private Part nextPart() throws Exception {
    if (body == null) {
      body = making.call();
      if (body.tag().isPresent() && exchange.hasSeen(body.tag().get())) {
        return Part.UNCHANGED;
      }
    }
    JsonBuffer out = new JsonBuffer(FIRST_CAPACITY);
    boolean more = body.body().appendNext(out);
    return new Part(Buffer.buffer(out.length()).appendBytes(out.array(), 0, out.length()), more);
  }

  private void send(Part part) {
    if (gone) {
      exchange.abandoned();
    } else if (part == Part.UNCHANGED) {
      exchange.reply(new Reply(304, null, Buffer.buffer(0), headers()));
    } else if (exchange.isHead()) {
      exchange.reply(new Reply(200, body.contentType(), Buffer.buffer(0), headers()));
    } else {
      exchange.guarded(() -> write(part));
    }
  }

  private void begin() {
    if (!begun) {
      begun = true;
      exchange.writeHead(200, body.contentType(), headers());
      exchange.response().setChunked(true);
    }
  }

  private void write(Part part) {
    exchange
        .held()
        .whilePartSent(part.bytes(), () -> part.more() ? writePart(part) : writeLast(part));
    if (part.more()) {
      readNextWhenTaken();
    }
  }

  private Future<Void> writePart(Part part) {
    begin();
    return outbox.write(part.bytes());
  }

  private Future<Void> writeLast(Part part) {
    begin();
    Future<Void> sent = exchange.response().end(part.bytes());
    exchange.streamed();
    return sent;
  }

  private void readNextWhenTaken() {
    if (outbox.isFull()) {
      waiting = true;
      outbox.whenRoom(this::goOn);
    } else {
      readNext();
    }
  }

  private void goOn() {
    if (waiting) {
      waiting = false;
      readNext();
    }
  }

  private List<Reply.Header> headers() {
    return body.tag().stream().map(tag -> new Reply.Header(Headers.ETAG, tag.header())).toList();
  }

  private record Part(Buffer bytes, boolean more) {
    /** In place of the first part: the client has the whole body already. */
    static final Part UNCHANGED = new Part(Buffer.buffer(0), false);
  }
}
