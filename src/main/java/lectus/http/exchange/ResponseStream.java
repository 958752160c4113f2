package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import lectus.database.DatabaseRequest.DatabaseAccess;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.limits.PageMemory;
import lectus.http.limits.RequestThreads.Kind;
import lectus.json.JsonBuffer;
import lectus.metrics.Stage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends an answer of any length with back-pressure: a part is read on a reader's thread and written
 * on the event loop, and the next one is read when the socket has taken most of it. No thread waits
 * for a client, and nothing more is read once the client has left, or is not let in any more.
 */
final class ResponseStream {
  private static final Logger LOG = LoggerFactory.getLogger(ResponseStream.class);

  /** Bytes that may wait in memory for a slow client, beside the part being read. */
  private static final int OUTBOX_BYTES = 256 << 10;

  private static final int FIRST_CAPACITY = 16 << 10;

  /**
   * The usual upper bound of a part, in bytes: parts end at some hundred kilobytes, unless a single
   * document takes more.
   */
  private static final int ORDINARY_PART = 1 << 20;

  private static final long SHORTEST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  private final long startedNanos = System.nanoTime();

  private final Exchange exchange;
  private final Callable<StreamedBody> making;
  private final Kind firstPart;
  private final Kind followingParts;
  private final DatabaseAccess permit;
  private final Outbox outbox;
  private final PageMemory memory;

  /** Made and read on readers' threads only, one after the other. */
  private volatile StreamedBody body;

  /** Whether the first part was read. Used as the body is. */
  private boolean hasFirst;

  /** Whether the last part was read. */
  private volatile boolean hasLast;

  /** The kind of the next part. */
  private Kind kind;

  /** Of the next part: parts of an answer are often of one length. Used as the body is. */
  private int capacity = FIRST_CAPACITY;

  private boolean begun;

  /** Bytes of the body up to the part that is written. */
  private long written;

  /** How long the first part is left alone when what it needs is being made. */
  private long pauseMillis = SHORTEST_PAUSE_MILLIS;

  /**
   * Whether it waits for the client to read what was written, for others to hold less, or for what
   * it needs.
   */
  private boolean waiting;

  private boolean gone;

  /** Whether the answer broke off while its next part was being read. */
  private boolean broken;

  /**
   * @param making runs on a reader's thread, too
   */
  ResponseStream(
      Exchange exchange, Callable<StreamedBody> making, Kind firstPart, Kind followingParts) {
    this.exchange = exchange;
    this.making = making;
    this.firstPart = firstPart;
    this.kind = firstPart;
    this.followingParts = followingParts;
    this.permit = exchange.access();
    this.outbox = new Outbox(exchange.response(), OUTBOX_BYTES);
    this.memory = new PageMemory(exchange.memory().pages());
  }

  /** Sends one that was made already. */
  ResponseStream(Exchange exchange, StreamedBody made, Kind firstPart, Kind followingParts) {
    this(exchange, () -> made, firstPart, followingParts);
    body = made;
  }

  void start() {
    exchange.response().setWriteQueueMaxSize(OUTBOX_BYTES);
    exchange.whenLeft(this::leave);
    if (exchange.isAbandoned()) {
      release();
      exchange.abandoned();
    } else {
      readNext();
    }
  }

  /** Notes that the client has left; a part that is being read is the last one. */
  private void leave() {
    gone = true;
    release();
    if (waiting) {
      waiting = false;
      exchange.abandoned();
    }
  }

  private void release() {
    memory.noneComes();
    memory.keeps(0);
    if (hasLast) {
      return;
    }
    exchange
        .<Void>change(
            () -> {
              if (body != null) {
                body.body().abandon();
              }
              return null;
            })
        .onFailure(why -> LOG.debug("What a broken answer held ends by itself", why));
  }

  private void readNext() {
    exchange.read(kind, this::nextPart).onComplete(this::send, this::fail);
    kind = followingParts;
  }

  private void fail(Throwable failure) {
    if (broken) {
      release();
    } else if (failure instanceof LectusException e
        && e.error() instanceof LectusError.NotYet
        && System.nanoTime() - startedNanos < exchange.patience().toNanos()) {
      readAgainSoon();
    } else {
      release();
      exchange.fail(failure);
    }
  }

  /** What the answer needs is being made. The server looks for it ever more rarely. */
  private void readAgainSoon() {
    if (gone) {
      exchange.abandoned();
      return;
    }
    waiting = true;
    exchange.afterMillis(pauseMillis, this::readAgain);
    pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
  }

  private void readAgain() {
    if (waiting) {
      waiting = false;
      kind = firstPart;
      readNext();
    }
  }

  private Part nextPart() throws Exception {
    boolean isFirst = !hasFirst;
    if (body == null) {
      body = making.call();
      if (isUnchanged()) {
        return Part.UNCHANGED;
      }
    } else {
      permit.checkAdmission();
    }
    JsonBuffer out = new JsonBuffer(capacity);
    boolean more = body.body().appendNext(out);
    hasFirst = true;
    hasLast = !more;
    capacity = Math.min(out.length(), OUTBOX_BYTES);
    if (isFirst && isUnchanged()) {
      return Part.UNCHANGED;
    }
    if (isFirst) {
      exchange.encoding().begin(body, out.length(), more);
    }
    return new Part(
        encoded(out, more),
        more ? body.body().keptBytes() : 0,
        more ? body.body().pauseMillis() : 0,
        more);
  }

  private Buffer encoded(JsonBuffer out, boolean more) {
    Buffer bytes = Buffer.buffer(out.length()).appendBytes(out.array(), 0, out.length());
    AnswerEncoding encoding = exchange.encoding();
    return more ? encoding.part(bytes) : encoding.last(bytes);
  }

  private boolean isUnchanged() {
    return body.knownTag().get().filter(exchange::hasSeen).isPresent();
  }

  private void send(Part part) {
    if (broken) {
      release();
    } else if (gone) {
      // The body may have been made, or have begun, only after the client left.
      release();
      exchange.abandoned();
    } else if (part == Part.UNCHANGED) {
      exchange.reply(new Reply(304, null, Buffer.buffer(0), headers()));
    } else if (exchange.isHead()) {
      exchange.guarded(this::endHead);
    } else {
      exchange.guarded(() -> write(part));
    }
  }

  private void begin() {
    if (!begun) {
      begun = true;
      body.length().ifPresentOrElse(this::writeHead, this::writeHeadOfChunks);
    }
  }

  private void writeHead(long length) {
    exchange.writeHead(body.status(), body.contentType(), headers());
    exchange.response().putHeader(Headers.CONTENT_LENGTH, Long.toString(length));
  }

  private void writeHeadOfChunks() {
    exchange.writeStreamHead(body.status(), body.contentType(), headers());
  }

  /** Says how long the body would be, if that is known. */
  private void endHead() {
    begin();
    exchange.response().end();
    exchange.streamed();
  }

  private void write(Part part) {
    int length = part.bytes().length();
    if (isOtherThanAnnounced(part)) {
      LOG.error("{} has another length than announced; its connection is closed", exchange.label());
      release();
      exchange.reset();
      return;
    }
    count(length);
    boolean reading = readNextMeanwhile(part);
    Future<Void> sent;
    try {
      sent = part.more() ? writePart(part) : writeLast(part);
    } catch (Throwable unsent) {
      broken = reading;
      memory.taken(length);
      throw unsent;
    }
    sent.onComplete(done -> memory.taken(length));
    if (part.more() && part.pauseMillis() > 0) {
      long paused = exchange.stages().begin();
      waiting = true;
      exchange.afterMillis(part.pauseMillis(), () -> goOn(Stage.TURN, paused));
    } else if (part.more() && !reading) {
      readNextWhenTaken();
    }
  }

  /**
   * Whether the client would take a part of this answer for the next one, or wait for bytes that do
   * not come. What announces the length need not be what reads the bytes.
   */
  private boolean isOtherThanAnnounced(Part part) {
    written += part.bytes().length();
    OptionalLong announced = body.length();
    return announced.isPresent()
        && (part.more() ? written > announced.getAsLong() : written != announced.getAsLong());
  }

  /** If the part does not fill the outbox, the next one is read while the socket takes it. */
  private boolean readNextMeanwhile(Part part) {
    memory.keeps(part.kept());
    boolean reading =
        begun
            && part.more()
            && part.pauseMillis() == 0
            && outbox.hasRoomFor(part.bytes().length())
            && memory.hasRoom();
    if (reading) {
      readNext();
    }
    return reading;
  }

  /**
   * Counts the memory of a part. The length of the first part was not known beforehand. All others
   * had memory reserved, unless one is much longer than those before it. If others hold too much
   * for it, the answer is broken off, because the part cannot be read again.
   */
  private void count(int length) {
    if (begun && (length <= ORDINARY_PART || memory.hasRoomFor(length))) {
      memory.sends(length);
    } else if (begun || !memory.trySend(length)) {
      throw memory.refusal();
    }
  }

  private Future<Void> writePart(Part part) {
    begin();
    return outbox.write(part.bytes());
  }

  private Future<Void> writeLast(Part part) {
    begin();
    Future<Void> sent = exchange.sends(Outbox.end(exchange.response(), part.bytes()));
    exchange.streamed();
    return sent;
  }

  /** An answer that has begun is not broken off for lack of memory; it pauses. */
  private void readNextWhenTaken() {
    long begun = exchange.stages().begin();
    if (outbox.isFull()) {
      waiting = true;
      outbox.whenRoom(() -> goOn(Stage.SOCKET_OUT, begun));
    } else if (!memory.hasRoom()) {
      waiting = true;
      exchange.afterMillis(PageMemory.RETRY_MILLIS, () -> goOn(Stage.MEMORY, begun));
    } else {
      readNext();
    }
  }

  private void goOn(Stage waited, long begun) {
    exchange.stages().end(waited, begun);
    if (waiting) {
      waiting = false;
      exchange.guarded(this::readNextWhenTaken);
    }
  }

  private List<Reply.Header> headers() {
    List<Reply.Header> all = new ArrayList<>(body.headers());
    all.addAll(exchange.encoding().headers());
    body.knownTag().get().ifPresent(tag -> all.add(new Reply.Header(Headers.ETAG, tag.header())));
    return all;
  }

  /**
   * @param kept bytes that the body holds for the parts to come
   * @param pauseMillis how long the next one is left alone
   */
  private record Part(Buffer bytes, long kept, long pauseMillis, boolean more) {
    /** Takes the place of the first part: the client has the whole body already. */
    static final Part UNCHANGED = new Part(Buffer.buffer(0), 0, 0, false);
  }
}
