package lectus.http.api;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import lectus.http.netty.VertxInternals;

/**
 * Closes the connections of a stopping server only after everything has been sent to their clients.
 * Vert.x closes a connection as soon as it was handed the end of an answer, so a slow client would
 * lose what it has not read by then. For the connections of one event loop.
 */
@Sharable
final class UnhurriedClose extends ChannelOutboundHandlerAdapter {
  private boolean begun;
  private long endNanos;

  /** Makes {@link #begin} apply to the connection. */
  void watch(HttpConnection connection) {
    VertxInternals.handler(connection).pipeline().addFirst(this);
  }

  /**
   * @param patience how long to wait for slow clients before they are cut off
   */
  void begin(Duration patience) {
    begun = true;
    endNanos = System.nanoTime() + patience.toNanos();
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise closed) {
    if (begun) {
      closeBehind(context.writeAndFlush(Unpooled.EMPTY_BUFFER), context, closed);
    } else {
      context.close(closed);
    }
  }

  private void closeBehind(
      ChannelFuture sent, ChannelHandlerContext context, ChannelPromise closed) {
    if (sent.isDone()) {
      context.close(closed);
      return;
    }
    long left = Math.max(0, endNanos - System.nanoTime());
    ScheduledFuture<?> cut =
        context.executor().schedule(() -> context.close(closed), left, TimeUnit.NANOSECONDS);
    sent.addListener(
        done -> {
          if (cut.cancel(false)) {
            context.close(closed);
          }
        });
  }
}
