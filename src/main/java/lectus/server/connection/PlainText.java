package lectus.server.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Tells a client that begins without TLS on a port that has it, if it looks like one of HTTP.
 * Others are for the TLS handler to refuse. For one connection, in front of that handler; removed
 * after the first byte.
 */
final class PlainText extends ChannelInboundHandlerAdapter {
  private static final byte[] TLS_ONLY =
      LastAnswer.bytes("400 Bad Request", "bad_request", "This port speaks TLS: use https.");

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    byte first = bytes.isReadable() ? bytes.getByte(bytes.readerIndex()) : 0;
    if (first >= 'A' && first <= 'Z') {
      context.pipeline().addAfter(context.name(), null, new RefusedConnection(TLS_ONLY));
    }
    context.fireChannelRead(message);
    context.pipeline().remove(this);
  }
}
