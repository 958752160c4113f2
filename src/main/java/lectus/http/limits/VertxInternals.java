package lectus.http.limits;

import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrame;
import io.vertx.core.http.WebSocketFrameType;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.http.impl.websocket.WebSocketFrameImpl;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.concurrent.TimeUnit;

/**
 * The HTTP layer's only access to classes that Vert.x does not promise to keep. ARCHITECTURE.md
 * lists who uses what below Vert.x, and why.
 */
public final class VertxInternals {
  private VertxInternals() {}

  /** Returns Vert.x' handler in a connection's pipeline; with HTTP/2 all streams share it. */
  public static ChannelHandlerContext handler(HttpConnection connection) {
    return ((HttpServerConnection) connection).channelHandlerContext();
  }

  /**
   * Runs an action in the next turn of a connection's event loop: a timer, however short, fires
   * after the loop has polled its sockets once more. Vert.x' timers take a millisecond at least.
   */
  public static void inNextTurn(HttpConnection connection, Runnable action) {
    handler(connection).executor().schedule(action, 0, TimeUnit.NANOSECONDS);
  }

  /** Returns Vert.x' handler in the pipeline of a connection that has become a WebSocket. */
  public static ChannelHandlerContext handler(ServerWebSocket socket) {
    return ((WebSocketInternal) socket).channelHandlerContext();
  }

  /**
   * Returns a text message. Vert.x' public interface takes only strings, and would encode again.
   *
   * @param utf8 must not be changed afterwards
   */
  public static WebSocketFrame text(byte[] utf8) {
    return new WebSocketFrameImpl(WebSocketFrameType.TEXT, utf8, true);
  }
}
