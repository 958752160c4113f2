package lectus.http.api;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Closes the connections of a server that stops only when their clients have been sent everything.
 * Vert.x closes one as soon as it was handed the end of an answer, and what the client was too slow
 * to take until then would be lost. For the connections of one event loop.
 */
@Sharable
final class UnhurriedClose extends ChannelOutboundHandlerAdapter {
  private boolean begun;
  private long endNanos;

  /** The connection is closed so from {@link #begin} on. */
  void watch(HttpConnection connection) {
    ((HttpServerConnection) connection).channelHandlerContext().pipeline().addFirst(this);
  }

  /**
   * @param patience with clients that are slow; then they are cut off
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
