package lectus.http.exchange;

import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.StreamResetException;
import java.io.IOException;
import lectus.error.LectusException;

/**
 * What goes wrong while a request is read is its client's doing, never a defect: either it went
 * away, or what it sent is no HTTP.
 */
final class ClientFaults {
  private ClientFaults() {}

  /** Whether the client has left, so that there is nobody to be answered. */
  static boolean isDeparture(Throwable failure) {
    return failure instanceof HttpClosedException || failure instanceof StreamResetException;
  }

  /**
   * What became of a request that could not be read on.
   *
   * @param failure as the HTTP parser, or the connection, has it
   */
  static Throwable of(Throwable failure) {
    if (isDeparture(failure)) {
      return failure;
    }
    if (failure instanceof IOException lost) {
      return new HttpClosedException(String.valueOf(lost.getMessage()));
    }
    if (failure instanceof WebSocketHandshakeException) {
      return LectusException.badRequest("This cannot become a WebSocket.");
    }
    return LectusException.badRequest("The request's body is no HTTP.");
  }
}
