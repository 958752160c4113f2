package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.BodyMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The body of a request that is not kept: it is handed over piece by piece, and the client is not
 * read while a piece waits. For the connection's event loop.
 *
 * <p>The least memory with which it goes on is counted before its first byte is read, and as long
 * as it lasts. It has more only while bytes come faster than they are handed over, and only if
 * there is room at once: a slow body holds little, and none waits for another.
 *
 * @param <T> what becomes of the body
 */
public final class FlowingBody<T> {
  private static final Logger LOG = LoggerFactory.getLogger(FlowingBody.class);

  /** Bytes that may wait while a piece is being handled; then the client is not read any more. */
  private static final int WAITING_BYTES = 64 << 10;

  /** Memory of the shortest body. */
  private static final int MIN_BYTES = 1_024;

  private static final byte[] NOTHING = {};

  private final Exchange exchange;
  private final HttpServerRequest request;
  private final BodySink<T> sink;
  private final long least;
  private final Promise<T> promise = Promise.promise();
  private Buffer waiting = Buffer.buffer();
  private BodyDeadlines.Pace pace;
  private long kept;
  private long passing;

  /** Whether there is room for bytes that wait, and for as many that are being handled. */
  private boolean mayWait;

  /** Whether the sink has more of the last bytes. */
  private boolean hasMore;

  private boolean handling;
  private boolean growing;
  private boolean paused = true;
  private boolean ended;
  private boolean refused;

  private FlowingBody(Exchange exchange, long least, BodySink<T> sink) {
    this.exchange = exchange;
    this.request = exchange.request();
    this.least = least;
    this.sink = sink;
  }

  /**
   * Reads the body of a request of which nothing has been read.
   *
   * @param memoryBytes with which the sink can go on
   * @return fails with what the sink throws; {@code request_timeout} (408), Unavailable if others
   *     hold too much memory for too long
   */
  public static <T> Future<T> read(Exchange exchange, long memoryBytes, BodySink<T> sink) {
    long announced = announced(exchange);
    // A short body takes no more memory than it has bytes, and some for itself.
    long least =
        announced < 0 || announced > memoryBytes
            ? memoryBytes
            : Math.min(memoryBytes, 2 * announced + MIN_BYTES);
    return new FlowingBody<>(exchange, least + sink.ownBytes(), sink).start();
  }

  /** Returns how many bytes the client announces; -1 if it does not say. */
  public static long announced(Exchange exchange) {
    String length = exchange.header(HttpHeaders.CONTENT_LENGTH);
    try {
      return length == null ? -1 : Long.parseLong(length);
    } catch (NumberFormatException e) {
      throw LectusException.badRequest("Content-Length is no number.");
    }
  }

  /**
   * Tells a client that waits for it to send the body. HTTP/1.0 has no interim responses (RFC 9110,
   * section 10.1.1); such a client would take one for the answer.
   */
  static void letSend(Exchange exchange) {
    if (waitsForLeave(exchange)) {
      exchange.response().writeContinue();
    }
  }

  static boolean waitsForLeave(Exchange exchange) {
    return "100-continue".equalsIgnoreCase(exchange.header(HttpHeaders.EXPECT))
        && exchange.request().version() != HttpVersion.HTTP_1_0;
  }

  /**
   * Leaves the body of a request unread that is paused, because its answer does not depend on it.
   */
  public static void decline(Exchange exchange) {
    exchange.leaveBody();
    exchange.request().handler(ignored -> {}).resume();
  }

  /**
   * Leaves the body of a request unread that is announced as too long.
   *
   * @throws LectusException {@code too_large} (413)
   */
  public static void requireShort(Exchange exchange) {
    long limit = limit(exchange);
    if (announced(exchange) > limit) {
      decline(exchange);
      throw Requests.tooLarge(limit);
    }
  }

  /**
   * Returns whether the body of a request is compressed by gzip.
   *
   * @return fails with {@code bad_content_type} (415) if it is encoded otherwise
   */
  public static Future<Boolean> isCompressed(Exchange exchange) {
    String encoding = exchange.header(HttpHeaders.CONTENT_ENCODING);
    if (encoding == null || encoding.equalsIgnoreCase("identity")) {
      return Future.succeededFuture(false);
    }
    return encoding.equalsIgnoreCase("gzip")
        ? Future.succeededFuture(true)
        : Future.failedFuture(
            new LectusException(
                new LectusError.UnsupportedMediaType("Content-Encoding must be gzip or identity")));
  }

  /** Returns how long a body may be. */
  public static long limit(Exchange exchange) {
    return exchange.settings().requests().maxRequestBytes();
  }

  /** Returns how long a body may be that is kept. */
  public static int mostBytes(Exchange exchange) {
    return exchange.settings().requests().maxHeldBytes();
  }

  private Future<T> start() {
    exchange.keepUnread();
    request.handler(this::received).endHandler(none -> ended()).exceptionHandler(this::broken);
    if (exchange.isAbandoned()) {
      broken(Failures.departed());
    } else {
      exchange.held().passes(least).onComplete(counted -> begin(), this::refuse);
    }
    return promise.future();
  }

  private void begin() {
    if (refused) {
      return;
    }
    if (exchange.isAbandoned()) {
      broken(Failures.departed());
      return;
    }
    BodyDeadlines deadlines = exchange.loop().bodyDeadlines();
    pace = deadlines.begin(exchange.held(), () -> refuse(tooSlow()));
    promise
        .future()
        .onComplete(
            done -> {
              deadlines.arriving.remove(pace);
              exchange.held().share.expects(0);
            });
    letSend(exchange);
    if (least > 2 * StreamWindow.FIRST_BYTES) {
      StreamWindow.widen(request);
    }
    paused = false;
    request.resume();
  }

  private void received(Buffer part) {
    if (refused) {
      return;
    }
    pace.arrived(part.length());
    waiting.appendBuffer(part);
    handleNext();
    if (waiting.length() > 0 && !paused) {
      mayWait |= exchange.held().tryPasses(Math.max(least, passing) + 2L * WAITING_BYTES);
      if (!mayWait || waiting.length() >= WAITING_BYTES) {
        paused = true;
        request.pause();
      }
    }
  }

  private void ended() {
    ended = true;
    handleNext();
  }

  /** Only the time counts in which the server waits for the client, and for nothing else. */
  private void handleNext() {
    if (handling || growing || refused) {
      return;
    }
    if (hasMore || waiting.length() > 0 || ended) {
      exchange.loop().bodyDeadlines().arriving.remove(pace);
      handling = true;
      handle();
    } else {
      exchange.loop().bodyDeadlines().arriving.add(pace);
    }
  }

  private void handle() {
    if (hasMore) {
      exchange.work(() -> take(NOTHING)).onComplete(this::handled, this::failed);
    } else if (waiting.length() > 0) {
      byte[] bytes = waiting.getBytes();
      waiting = Buffer.buffer();
      exchange.work(() -> take(bytes)).onComplete(this::handled, this::failed);
      if (paused) {
        paused = false;
        request.resume();
      }
    } else {
      exchange.work(sink::end).onComplete(promise::tryComplete, this::failed);
    }
  }

  /**
   * What the sink has of the body.
   *
   * @param hasMore whether it is to take more of the last bytes
   */
  private record Taken(BodySink.Held held, boolean hasMore) {}

  private Taken take(byte[] bytes) {
    sink.take(bytes);
    return new Taken(sink.held(), sink.hasMore());
  }

  private BodySink.Held relieved() {
    sink.relieve();
    return sink.held();
  }

  private void handled(Taken now) {
    handling = false;
    if (refused) {
      abandon();
      return;
    }
    passing = now.held().passing();
    hasMore = now.hasMore();
    mayWait &= waiting.length() > 0;
    boolean fits =
        (hasMore || waiting.length() > 0 || ended || passing <= least)
            && exchange
                .held()
                .tryPasses(Math.max(least, passing) + (mayWait ? 2L * WAITING_BYTES : 0));
    if (fits) {
      keep(now.held());
    } else {
      handling = true;
      exchange.work(this::relieved).onComplete(this::relieved, this::failed);
    }
  }

  private void relieved(BodySink.Held now) {
    handling = false;
    if (refused) {
      abandon();
      return;
    }
    passing = now.passing();
    mayWait = false;
    exchange.held().tryPasses(least);
    keep(now);
  }

  /** Goes on when there is room for what the sink has kept. */
  private void keep(BodySink.Held now) {
    long more = now.kept() - kept;
    kept = now.kept();
    if (more <= 0) {
      exchange.held().bodyShrinks(-more);
      handleNext();
      return;
    }
    growing = true;
    exchange.held().share.expects(mostKept(now.most()));
    exchange
        .held()
        .bodyGrows(more)
        .onComplete(
            counted -> {
              growing = false;
              handleNext();
            },
            this::notGrown);
  }

  /** A body that may be kept as a whole says by its length how much that is at most. */
  private long mostKept(long most) {
    long announced = announced(exchange);
    boolean isLengthOfWhole =
        announced >= 0 && exchange.header(HttpHeaders.CONTENT_ENCODING) == null;
    if (!isLengthOfWhole) {
      return most;
    }
    if (most != BodyMemory.UNKNOWN) {
      return Math.min(most, announced);
    }
    return announced <= mostBytes(exchange) ? announced : BodyMemory.UNKNOWN;
  }

  private void notGrown(Throwable noMemory) {
    growing = false;
    if (!refused) {
      failed(noMemory);
    }
  }

  private void failed(Throwable failure) {
    handling = false;
    if (refused) {
      abandon();
    } else if (ended) {
      refused = true;
      abandon();
      promise.tryFail(failure);
    } else {
      refuse(failure);
    }
  }

  /** The client has left, or what it sends is no HTTP. */
  private void broken(Throwable failure) {
    if (!refused) {
      refused = true;
      exchange.failAtOnce();
      abandonUnlessHandling();
      promise.tryFail(Failures.ofReading(failure));
    }
  }

  private void refuse(Throwable reason) {
    refused = true;
    waiting = Buffer.buffer();
    exchange.leaveBody();
    if (paused) {
      paused = false;
      request.resume();
    }
    abandonUnlessHandling();
    promise.tryFail(reason);
  }

  private void abandonUnlessHandling() {
    if (!handling) {
      abandon();
    }
  }

  /** What is left behind otherwise is swept some time. */
  private void abandon() {
    exchange
        .<Void>work(
            () -> {
              sink.abandon();
              return null;
            })
        .onFailure(why -> LOG.debug("A body that was given up is left to the sweeper", why));
  }

  private static LectusException tooSlow() {
    return new LectusException(
        new LectusError.RequestTimeout("The request body did not arrive in time."));
  }
}
