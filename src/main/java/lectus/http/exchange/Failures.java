package lectus.http.exchange;

import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.StreamResetException;
import java.io.IOException;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.metrics.RequestLabel;
import lectus.store.StoreFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answers to failed requests. Unforeseen failures are logged, with the request's label. */
public final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

  private Failures() {}

  public static LectusError errorOf(Throwable failure, RequestLabel request) {
    return failure instanceof Dispatch.ClientLeft
        ? Dispatch.ClientLeft.ERROR
        : StoreFailures.foreseen(failure).orElseGet(() -> unforeseen(failure, request));
  }

  private static LectusError unforeseen(Throwable failure, RequestLabel request) {
    if (failure instanceof OutOfMemoryError) {
      request.on(LOG.atError()).log("failed: {}", failure.toString());
      return new LectusError.Unavailable("The server is short of memory.");
    }
    request.on(LOG.atError()).setCause(failure).log("failed");
    return StoreFailures.unforeseen(
        failure, "The request " + request.id() + " failed; the log says why.");
  }

  /** Whether the client has left, so that nobody waits for an answer. */
  static boolean isDeparture(Throwable failure) {
    return failure instanceof Dispatch.ClientLeft
        || failure instanceof HttpClosedException
        || failure instanceof StreamResetException;
  }

  /** Returns the failure of a request whose client left before anybody listened for that. */
  static HttpClosedException departed() {
    return new HttpClosedException("The client has left.");
  }

  /**
   * Returns the error of a request that could not be read to its end: its client left, or what it
   * sent is not HTTP. That is never a defect.
   *
   * @param failure as the HTTP parser, or the connection, reports it
   */
  static Throwable ofReading(Throwable failure) {
    if (isDeparture(failure)) {
      return failure;
    }
    if (failure instanceof IOException) {
      return new HttpClosedException("The connection was lost.");
    }
    if (failure instanceof WebSocketHandshakeException) {
      return LectusException.badRequest("This cannot become a WebSocket.");
    }
    return LectusException.badRequest("The request's body is no HTTP.");
  }
}
