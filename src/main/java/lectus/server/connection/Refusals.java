package lectus.server.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers the first request of a connection for which there is no room. Only a few are answered at
 * a time; the others are closed at once, because a refusal must cost next to nothing.
 */
final class Refusals {
  private static final int MOST_AT_ONCE = 512;
  private static final long PATIENCE_SECONDS = 2;

  private static final byte[] TOO_MANY =
      LastAnswer.bytes(
          "503 Service Unavailable\r\nRetry-After: 1",
          "service_unavailable",
          "Too many connections are open.");

  private static final ByteBuf END_OF_HEAD =
      Unpooled.unreleasableBuffer(
          Unpooled.copiedBuffer("\r\n\r\n", StandardCharsets.US_ASCII).asReadOnly());

  private static final ChannelFutureListener END_OUTPUT =
      sent -> ((DuplexChannel) sent.channel()).shutdownOutput();

  private final AtomicInteger telling = new AtomicInteger();

  /**
   * @param loop that serves it
   */
  void refuse(Channel channel, EventLoop loop) {
    if (telling.incrementAndGet() > MOST_AT_ONCE) {
      telling.decrementAndGet();
      channel.unsafe().closeForcibly();
      return;
    }
    channel.closeFuture().addListener(closed -> telling.decrementAndGet());
    channel.pipeline().addLast(new Refusal());
    loop.register(channel)
        .addListener(
            registered -> {
              if (!registered.isSuccess()) {
                channel.unsafe().closeForcibly();
              }
            });
  }

  /**
   * Reads on after the answer: closing at once would take the answer away from the client again.
   */
  private static final class Refusal extends ChannelInboundHandlerAdapter {
    private boolean told;

    @Override
    public void channelActive(ChannelHandlerContext context) {
      context.executor().schedule(() -> context.close(), PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      boolean isWhole = endsHead(bytes);
      ReferenceCountUtil.release(bytes);
      if (!told) {
        told = true;
        context
            .writeAndFlush(Unpooled.wrappedBuffer(TOO_MANY))
            .addListener(isWhole ? ChannelFutureListener.CLOSE : END_OUTPUT);
      }
    }

    /** A request without a body is complete: nothing follows that would reset the connection. */
    private static boolean endsHead(Object read) {
      ByteBuf bytes = (ByteBuf) read;
      int tail = bytes.writerIndex() - END_OF_HEAD.readableBytes();
      return tail >= bytes.readerIndex()
          && ByteBufUtil.equals(bytes, tail, END_OF_HEAD, 0, END_OF_HEAD.readableBytes());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
