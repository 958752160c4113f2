package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import lectus.error.LectusError;
import lectus.error.LectusException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The body of a request that is not kept: it is handed over piece by piece, and the client is not
 * read while a piece waits. For the connection's event loop.
 *
 * @param <T> what becomes of the body
 */
public final class FlowingBody<T> {
  private static final Logger LOG = LoggerFactory.getLogger(FlowingBody.class);

  /** Bytes that wait while a piece is being handled; then the client is not read any more. */
  private static final int WAITING_BYTES = 64 << 10;

  /** Memory of the shortest body. */
  private static final int LEAST_BYTES = 1_024;

  private final Exchange exchange;
  private final HttpServerRequest request;
  private final BodySink<T> sink;
  private final Promise<T> promise = Promise.promise();
  private Buffer waiting = Buffer.buffer();
  private BodyPace pace;
  private long kept;
  private boolean handling;
  private boolean paused;
  private boolean ended;
  private boolean refused;

  private FlowingBody(Exchange exchange, BodySink<T> sink) {
    this.exchange = exchange;
    this.request = exchange.request();
    this.sink = sink;
  }

  /**
   * Reads the body of a request of which nothing has been read.
   *
   * @param memoryBytes what the sink may hold at most
   * @return fails with what the sink throws; {@code request_timeout} (408), Unavailable if others
   *     hold too much memory
   */
  public static <T> Future<T> read(Exchange exchange, long memoryBytes, BodySink<T> sink) {
    return new FlowingBody<>(exchange, sink).start(memoryBytes);
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
   * Leaves the body of a request unread that is paused, because its answer does not depend on it.
   */
  public static void decline(Exchange exchange) {
    exchange.leaveBody();
    exchange.request().handler(ignored -> {}).resume();
  }

  /** Returns how long a body may be that is kept. */
  public static int mostBytes(Exchange exchange) {
    return exchange.loop().settings().maxRequestBytes();
  }

  private Future<T> start(long memoryBytes) {
    exchange.unread().keepForBody();
    BodyDeadlines deadlines = exchange.loop().bodyDeadlines();
    pace = deadlines.begin(() -> refuse(tooSlow()));
    promise.future().onComplete(done -> deadlines.end(pace));
    request.handler(this::received).endHandler(none -> ended()).exceptionHandler(this::broken);
    if (exchange.isAbandoned()) {
      broken(ClientFaults.departed());
      return promise.future();
    }
    try {
      reserve(memoryBytes);
      if ("100-continue".equalsIgnoreCase(exchange.header(HttpHeaders.EXPECT))) {
        exchange.response().writeContinue();
      }
    } catch (RuntimeException refusal) {
      refuse(refusal);
    }
    request.resume();
    return promise.future();
  }

  /** A short body takes no more memory than it has bytes, and some for itself. */
  private void reserve(long memoryBytes) {
    long announced = announced(exchange);
    long most = memoryBytes + WAITING_BYTES;
    exchange
        .held()
        .bodyGrows((int) (announced < 0 ? most : Math.min(most, 2 * announced + LEAST_BYTES)));
  }

  private void received(Buffer part) {
    if (refused) {
      return;
    }
    pace.arrived(part.length());
    waiting.appendBuffer(part);
    if (waiting.length() >= WAITING_BYTES && !paused) {
      pause();
    }
    handleNext();
  }

  private void pause() {
    paused = true;
    request.pause();
    exchange.loop().bodyDeadlines().end(pace);
  }

  private void goOn() {
    paused = false;
    exchange.loop().bodyDeadlines().goOn(pace);
    request.resume();
  }

  private void ended() {
    ended = true;
    handleNext();
  }

  private void handleNext() {
    if (handling || refused) {
      return;
    }
    if (waiting.length() > 0) {
      byte[] bytes = waiting.getBytes();
      waiting = Buffer.buffer();
      handling = true;
      exchange.work(() -> take(bytes)).onComplete(this::handled, this::failed);
      if (paused) {
        goOn();
      }
    } else if (ended) {
      handling = true;
      exchange.work(sink::end).onComplete(promise::tryComplete, this::failed);
    }
  }

  /** Returns what the sink keeps of the body. */
  private long take(byte[] bytes) {
    sink.take(bytes);
    return sink.heldBytes();
  }

  private void handled(long nowKept) {
    handling = false;
    if (refused) {
      abandon();
      return;
    }
    try {
      exchange.held().bodyGrows((int) Math.max(0, nowKept - kept));
      kept = Math.max(kept, nowKept);
    } catch (LectusException noMemory) {
      failed(noMemory);
      return;
    }
    handleNext();
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
      promise.tryFail(ClientFaults.of(failure));
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
