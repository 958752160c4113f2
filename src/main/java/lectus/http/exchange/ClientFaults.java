package lectus.http.exchange;

import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.StreamResetException;
import java.io.IOException;
import lectus.error.LectusException;

/**
 * Failures while a request is read. They are the client's doing, never a defect: either it left, or
 * what it sent is not HTTP.
 */
final class ClientFaults {
  private ClientFaults() {}

  /** Whether the client has left, so that nobody waits for an answer. */
  static boolean isDeparture(Throwable failure) {
    return failure instanceof HttpClosedException || failure instanceof StreamResetException;
  }

  /** Returns the failure of a request whose client left before anybody listened for that. */
  static HttpClosedException departed() {
    return new HttpClosedException("The client has left.");
  }

  /**
   * Returns the error of a request that could not be read to its end.
   *
   * @param failure as the HTTP parser, or the connection, reports it
   */
  static Throwable of(Throwable failure) {
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
