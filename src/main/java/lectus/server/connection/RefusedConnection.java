package lectus.server.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Answers whatever a client says with the same bytes, once, and ends its connection. Reads on after
 * the answer: closing at once would take the answer away from the client again.
 */
final class RefusedConnection extends ChannelInboundHandlerAdapter {
  private static final long PATIENCE_SECONDS = 2;

  private static final ByteBuf END_OF_HEAD =
      Unpooled.unreleasableBuffer(
          Unpooled.copiedBuffer("\r\n\r\n", StandardCharsets.US_ASCII).asReadOnly());

  private static final ChannelFutureListener END_OUTPUT =
      sent -> ((DuplexChannel) sent.channel()).shutdownOutput();

  private final byte[] answer;
  private boolean told;

  RefusedConnection(byte[] answer) {
    this.answer = answer;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    context.executor().schedule(() -> context.close(), PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    boolean isWhole = endsHead(bytes);
    ReferenceCountUtil.release(bytes);
    if (!told) {
      told = true;
      ChannelFutureListener close = sent -> context.close();
      context
          .writeAndFlush(Unpooled.wrappedBuffer(answer))
          .addListener(isWhole ? close : END_OUTPUT);
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
