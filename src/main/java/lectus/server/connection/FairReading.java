package lectus.server.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Hands the bytes of an HTTP/2 connection to its decoder a little at a time: a frame may be a whole
 * request of 13 bytes, and one read of the socket has thousands of them. A connection has the event
 * loop for a few milliseconds at most, and then others have their turn. Its socket is not read
 * meanwhile.
 */
final class FairReading extends ChannelInboundHandlerAdapter {
  /** Some twenty requests, if each refers to the headers of others. */
  private static final int SLICE_BYTES = 256;

  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final Deque<ByteBuf> waiting = new ArrayDeque<>();
  private boolean isResting;

  /** Whether this, and nobody else, keeps the socket from being read. */
  private boolean hasStoppedReading;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof ByteBuf bytes) {
      waiting.add(bytes);
    } else {
      context.fireChannelRead(message);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (!isResting) {
      hand(context);
    }
  }

  private void hand(ChannelHandlerContext context) {
    long begun = System.nanoTime();
    while (!waiting.isEmpty() && System.nanoTime() - begun < TURN_NANOS) {
      context.fireChannelRead(slice());
    }
    context.fireChannelReadComplete();
    isResting = !waiting.isEmpty();
    if (isResting) {
      // A timer, however short, fires after the event loop has polled its sockets once more.
      context.executor().schedule(() -> hand(context), 0, TimeUnit.NANOSECONDS);
    }
    boolean isRead = context.channel().config().isAutoRead();
    if (isResting ? isRead : hasStoppedReading) {
      hasStoppedReading = isResting;
      context.channel().config().setAutoRead(!isResting);
    }
  }

  private ByteBuf slice() {
    ByteBuf first = waiting.element();
    return first.readableBytes() <= SLICE_BYTES
        ? waiting.remove()
        : first.readRetainedSlice(SLICE_BYTES);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    release();
    context.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    release();
  }

  private void release() {
    waiting.forEach(ReferenceCountUtil::release);
    waiting.clear();
  }
}
