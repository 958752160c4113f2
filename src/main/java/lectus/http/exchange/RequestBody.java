package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.BodyMemory;
import lectus.http.limits.MemoryAccount;
import lectus.metrics.Stage;

/**
 * Collects the body of one request within a limit, which is checked first on Content-Length, then
 * on the bytes that arrive. A client that sent {@code Expect: 100-continue} is told to go on only
 * after the first check.
 *
 * <p>Each byte is counted before memory is allocated for it. What is counted doubles, up to the
 * length that the client announced, so an announcement alone gets little. A short body is counted
 * as a whole when its first bytes have come: those who wait for room for the rest hold next to
 * nothing, or have said how much they will hold ({@link BodyMemory}).
 */
final class RequestBody {
  private static final int DECOMPRESSED_AT_ONCE = 64 << 10;

  /** The first step of a body that is not short. */
  private static final int LARGE_STEP = 2 * MemoryAccount.SMALL_BYTES;

  private static final byte[] NOTHING = {};

  private final Exchange exchange;
  private final int limit;
  private final boolean isCompressed;
  private final boolean isAnnounced;

  /** Bytes that may come; as many will if they are announced. */
  private final int most;

  private final Promise<byte[]> promise = Promise.promise();
  private BodyDeadlines.Pace pace;

  /** What has come, in the first {@link #length} bytes. */
  private byte[] room = NOTHING;

  private int length;
  private int counted;
  private boolean paused;
  private boolean refused;
  private boolean isWide;

  private RequestBody(Exchange exchange, int limit, boolean isCompressed) {
    this.exchange = exchange;
    this.limit = limit;
    this.isCompressed = isCompressed;
    long announced = FlowingBody.announced(exchange);
    this.isAnnounced = announced > 0;
    this.most = isAnnounced ? (int) Math.min(announced, limit) : limit;
  }

  /**
   * @param limit in bytes, of the body both as sent and as decompressed
   * @return fails with {@code request_timeout} (408), {@code too_large} (413) or {@code
   *     bad_content_type} (415)
   */
  static Future<byte[]> read(Exchange exchange, int limit) {
    // Fails before any of the body is held: nobody would release it.
    return FlowingBody.isCompressed(exchange)
        .compose(
            isGzip ->
                isGzip
                    ? new RequestBody(exchange, limit, true)
                        .start()
                        .compose(bytes -> decompressed(exchange, bytes, limit))
                    : new RequestBody(exchange, limit, false).start());
  }

  /** Decompresses twice, so that the result is counted before it is held. */
  private static Future<byte[]> decompressed(Exchange exchange, byte[] compressed, int limit) {
    exchange.held().bodyIsCompressed();
    return exchange
        .work(() -> decompressedLength(compressed, limit))
        .compose(
            length ->
                exchange
                    .held()
                    .bodyIsDecompressed(length)
                    .compose(counted -> exchange.work(() -> decompress(compressed))));
  }

  private Future<byte[]> start() {
    HttpServerRequest request = exchange.request();
    exchange.held().share.expects(isAnnounced && !isCompressed ? most : BodyMemory.UNKNOWN);
    BodyDeadlines deadlines = exchange.loop().bodyDeadlines();
    pace = deadlines.begin(exchange.held(), () -> refuse(tooSlow()));
    long begun = exchange.stages().begin();
    promise
        .future()
        .onComplete(
            done -> {
              deadlines.arriving.remove(pace);
              exchange.stages().end(Stage.BODY_IN, begun);
            });
    request.handler(this::received).endHandler(none -> ended()).exceptionHandler(this::broken);
    if (exchange.isAbandoned()) {
      broken(Failures.departed());
    } else if (FlowingBody.announced(exchange) > limit) {
      refuse(Requests.tooLarge(limit));
    } else {
      FlowingBody.letSend(exchange);
    }
    return promise.future();
  }

  private void broken(Throwable failure) {
    refused = true;
    drop();
    exchange.failAtOnce();
    promise.tryFail(Failures.ofReading(failure));
  }

  private void received(Buffer part) {
    if (refused) {
      return;
    }
    pace.arrived(part.length());
    if ((long) length + part.length() > limit) {
      refuse(Requests.tooLarge(limit));
      return;
    }
    Future<Void> room = roomFor(part.length());
    if (room.succeeded()) {
      append(part);
    } else {
      pause();
      room.onComplete(counted -> goOn(part), this::refuse);
    }
  }

  /** Nothing more is read of the client while there is no room for it. */
  private void pause() {
    paused = true;
    exchange.request().pause();
    exchange.loop().bodyDeadlines().arriving.remove(pace);
  }

  private void goOn(Buffer part) {
    if (refused) {
      return;
    }
    if (exchange.isAbandoned()) {
      broken(Failures.departed());
      return;
    }
    paused = false;
    append(part);
    if (!refused) {
      exchange.loop().bodyDeadlines().arriving.add(pace);
      exchange.request().resume();
    }
  }

  private void append(Buffer part) {
    if (!isWide && counted > MemoryAccount.SMALL_BYTES) {
      isWide = true;
      StreamWindow.widen(exchange.request());
    }
    try {
      add(part);
    } catch (RuntimeException | Error noMemory) {
      refuse(noMemory);
    }
  }

  /** Completes when there is room for so many bytes more; fails as {@link HeldMemory#bodyGrows}. */
  private Future<Void> roomFor(int bytes) {
    int needed = length + bytes;
    if (needed <= counted) {
      return Future.succeededFuture();
    }
    int size = step(needed);
    return exchange.held().bodyGrows(size - counted).onSuccess(done -> counted = size);
  }

  private int step(int needed) {
    if (needed <= MemoryAccount.TINY_BYTES) {
      return isAnnounced ? Math.min(most, MemoryAccount.TINY_BYTES) : needed;
    }
    if (isAnnounced ? most <= MemoryAccount.SMALL_BYTES : needed <= MemoryAccount.SMALL_BYTES) {
      return Math.min(most, MemoryAccount.SMALL_BYTES);
    }
    return Math.min(most, Math.max(needed, Math.max(LARGE_STEP, 2 * counted)));
  }

  /** There must be {@linkplain #roomFor room}. */
  private void add(Buffer part) {
    int longer = length + part.length();
    if (longer > room.length) {
      room =
          Arrays.copyOf(
              room, isAnnounced ? counted : Math.min(counted, Math.max(longer, 2 * length)));
    }
    part.getBytes(0, part.length(), room, length);
    length = longer;
  }

  /** Returns the whole body and keeps none of it. */
  private byte[] taken() {
    exchange.held().share.expects(0);
    byte[] whole = length == room.length ? room : Arrays.copyOf(room, length);
    drop();
    return whole;
  }

  private void drop() {
    room = NOTHING;
    length = 0;
  }

  private void ended() {
    if (!refused) {
      promise.tryComplete(taken());
    }
  }

  private void refuse(Throwable reason) {
    refused = true;
    drop();
    exchange.leaveBody();
    if (paused) {
      exchange.request().resume();
    }
    promise.tryFail(reason);
  }

  private static int decompressedLength(byte[] compressed, int limit) {
    byte[] part = new byte[DECOMPRESSED_AT_ONCE];
    long length = 0;
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        length += read;
        if (length > limit) {
          throw Requests.tooLarge(limit);
        }
      }
      return (int) length;
    } catch (IOException e) {
      throw LectusException.badRequest("The body is not gzip.");
    }
  }

  private static byte[] decompress(byte[] compressed) throws IOException {
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
      return in.readAllBytes();
    }
  }

  private static LectusException tooSlow() {
    return new LectusException(
        new LectusError.RequestTimeout("The request's body arrives too slowly."));
  }
}
