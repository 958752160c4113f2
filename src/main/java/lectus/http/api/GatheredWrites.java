package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.http.HttpConnection;
import lectus.http.limits.VertxInternals;

/**
 * Sends what one turn of the event loop writes on the streams of an HTTP/2 connection in few system
 * calls: a document that a hundred feeds of one client show would otherwise take a hundred.
 */
final class GatheredWrites {
  /** As many are sent at once, even within a turn. */
  private static final int MOST_WRITES = 256;

  private GatheredWrites() {}

  /** Gathers them, if the connection speaks HTTP/2. */
  static void on(HttpConnection connection) {
    ChannelHandlerContext context = VertxInternals.handler(connection);
    if (context.handler() instanceof Http2ConnectionHandler) {
      context.pipeline().addFirst(new FlushConsolidationHandler(MOST_WRITES, true));
    }
  }
}
