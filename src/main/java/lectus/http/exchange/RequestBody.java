package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPInputStream;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Collects the body of one request within a limit, checked on Content-Length first, then on what
 * arrives. A client that asked with {@code Expect: 100-continue} is told to go on only then.
 */
final class RequestBody {
  private static final byte[] NOTHING = {};

  /** How long a client may go on sending what was refused before its connection is closed. */
  private static final long REFUSED_MILLIS = 5_000;

  private static final int DECOMPRESSED_AT_ONCE = 64 << 10;

  private final Exchange exchange;
  private final int limit;
  private final Promise<byte[]> promise = Promise.promise();
  private Buffer collected;
  private boolean refused;

  private RequestBody(Exchange exchange, int limit) {
    this.exchange = exchange;
    this.limit = limit;
  }

  /**
   * @param limit in bytes, of the body as sent and as decompressed
   * @return fails with {@code too_large} (413) or {@code bad_content_type} (415)
   */
  static Future<byte[]> read(Exchange exchange, int limit) {
    String encoding = exchange.header(HttpHeaders.CONTENT_ENCODING);
    if (encoding == null || encoding.equalsIgnoreCase("identity")) {
      return new RequestBody(exchange, limit).start();
    }
    if (!encoding.equalsIgnoreCase("gzip")) {
      // Before anything of the body is kept, which nobody would give back.
      return Future.failedFuture(
          new LectusException(
              new LectusError.UnsupportedMediaType("Content-Encoding must be gzip or identity")));
    }
    return new RequestBody(exchange, limit)
        .start()
        .compose(bytes -> decompressed(exchange, bytes, limit));
  }

  /**
   * @param part copies what is wanted, at most as long as the body
   */
  static Future<byte[]> readPart(Exchange exchange, int limit, UnaryOperator<byte[]> part) {
    return read(exchange, limit)
        .compose(
            body -> {
              exchange.held().body(body.length);
              return exchange.work(() -> part.apply(body));
            });
  }

  /** Read twice, so that what it holds is counted before it is held. */
  private static Future<byte[]> decompressed(Exchange exchange, byte[] compressed, int limit) {
    return exchange
        .work(() -> decompressedLength(compressed, limit))
        .compose(
            length -> {
              exchange.held().body(length);
              return exchange.work(() -> decompress(compressed));
            });
  }

  private Future<byte[]> start() {
    HttpServerRequest request = exchange.request();
    request.handler(this::received).endHandler(none -> ended()).exceptionHandler(promise::tryFail);
    if (declaredLength() > limit) {
      refuse(tooLarge());
    } else if (expectsContinue()) {
      exchange.response().writeContinue();
    }
    return promise.future();
  }

  private void received(Buffer part) {
    if (refused) {
      return;
    }
    long length = part.length() + (collected == null ? 0L : collected.length());
    if (length > limit) {
      refuse(tooLarge());
    } else {
      collect(part, length);
    }
  }

  private void collect(Buffer part, long length) {
    try {
      exchange.held().bodyGrows(part.length(), length);
      collected = collected == null ? part : collected.appendBuffer(part);
    } catch (LectusException othersHoldTooMuch) {
      refuse(othersHoldTooMuch);
    }
  }

  private void ended() {
    if (refused) {
      exchange.cut();
    } else {
      byte[] body = collected == null ? NOTHING : collected.getBytes();
      // The request lives on until it is answered, and this would with it.
      collected = null;
      promise.tryComplete(body);
    }
  }

  /** Answers at once, but lets the client read the answer before its connection is closed. */
  private void refuse(LectusException reason) {
    refused = true;
    collected = null;
    new ResponseHead(exchange).announceCut();
    exchange.afterMillis(REFUSED_MILLIS, exchange::cut);
    promise.tryFail(reason);
  }

  private long declaredLength() {
    String length = exchange.header(HttpHeaders.CONTENT_LENGTH);
    try {
      return length == null ? 0 : Long.parseLong(length);
    } catch (NumberFormatException e) {
      throw LectusException.badRequest("Content-Length is no number.");
    }
  }

  private boolean expectsContinue() {
    String expectation = exchange.header(HttpHeaders.EXPECT);
    return expectation != null && expectation.equalsIgnoreCase("100-continue");
  }

  private static int decompressedLength(byte[] compressed, int limit) {
    byte[] part = new byte[DECOMPRESSED_AT_ONCE];
    long length = 0;
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        length += read;
        if (length > limit) {
          throw tooLarge();
        }
      }
      return (int) length;
    } catch (IOException e) {
      throw LectusException.badRequest("The body is not gzip: " + e.getMessage());
    }
  }

  private static byte[] decompress(byte[] compressed) throws IOException {
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
      return in.readAllBytes();
    }
  }

  private static LectusException tooLarge() {
    return new LectusException(
        new LectusError.TooLarge("too_large", "the request entity is too large"));
  }
}
