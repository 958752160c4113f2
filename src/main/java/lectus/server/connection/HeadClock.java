package lectus.server.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lectus.http.exchange.ClientConnection;
import lectus.server.connection.ConnectionGate.LastAnswer;

/**
 * Closes a connection whose client begins a request and does not finish its head, or connects and
 * sends nothing. Between two requests the connection may be idle. For one connection, in front of
 * everything that reads.
 */
final class HeadClock extends ChannelInboundHandlerAdapter {
  private final long patienceNanos;
  private ClientConnection use;

  /**
   * Whether a head is due: the first one from the connection's start, others from their first byte
   * on.
   */
  private boolean awaiting = true;

  private long sinceNanos = System.nanoTime();
  private long requestsBefore;
  private boolean bytesCame;
  private Future<?> nextLook;

  HeadClock(int seconds) {
    this.patienceNanos = TimeUnit.SECONDS.toNanos(seconds);
  }

  @Override
  public void channelActive(ChannelHandlerContext context) throws Exception {
    use = ClientConnection.of(context.channel());
    lookIn(context, patienceNanos);
    super.channelActive(context);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
    restIfRequested();
    if (!awaiting && use.isIdle() && use.isReadToEnd() && !use.isMultiplexed()) {
      awaiting = true;
      sinceNanos = System.nanoTime();
    }
    bytesCame = true;
    super.channelRead(context, bytes);
    restIfRequested();
  }

  /** A request that has begun may have been answered by now. */
  private void restIfRequested() {
    if (use.requestsBegun() != requestsBefore) {
      requestsBefore = use.requestsBegun();
      awaiting = false;
    }
  }

  private void lookIn(ChannelHandlerContext context, long nanos) {
    nextLook = context.executor().schedule(() -> look(context), nanos, TimeUnit.NANOSECONDS);
  }

  /** A pending timer would keep the connection in memory until it fires. */
  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    if (nextLook != null) {
      nextLook.cancel(false);
    }
    super.channelInactive(context);
  }

  private void look(ChannelHandlerContext context) {
    if (!context.channel().isActive()) {
      return;
    }
    restIfRequested();
    long left = awaiting ? sinceNanos + patienceNanos - System.nanoTime() : patienceNanos;
    if (left > 0) {
      lookIn(context, left);
    } else if (bytesCame && !speaksHttp2(context)) {
      context.writeAndFlush(tooSlow()).addListener(ChannelFutureListener.CLOSE);
    } else {
      context.close();
    }
  }

  private static boolean speaksHttp2(ChannelHandlerContext context) {
    return context.pipeline().get(Http2ConnectionHandler.class) != null;
  }

  private static ByteBuf tooSlow() {
    return Unpooled.wrappedBuffer(
        LastAnswer.bytes(
            "408 Request Timeout", "request_timeout", "The request's head did not come in time."));
  }
}
