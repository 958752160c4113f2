package lectus.http.socket;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;

/**
 * A client's close frame is answered with its own code; one whose code must not be sent (RFC 6455,
 * section 7.4) is answered as the protocol error that it is. Netty's decoder knows some of them.
 */
@Sharable
final class ReceivedClose extends ChannelInboundHandlerAdapter {
  static final ReceivedClose CHECK = new ReceivedClose();

  private static final int CODE_BYTES = 2;

  private ReceivedClose() {}

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof CloseWebSocketFrame close && !isAllowed(close.content())) {
      close.release();
      context.fireChannelRead(
          new CloseWebSocketFrame(
              WebSocketCloseStatus.PROTOCOL_ERROR, "No close frame has this code."));
    } else {
      context.fireChannelRead(message);
    }
  }

  /** A close frame may have no code. */
  private static boolean isAllowed(ByteBuf payload) {
    if (payload.readableBytes() < CODE_BYTES) {
      return !payload.isReadable();
    }
    int code = payload.getUnsignedShort(payload.readerIndex());
    boolean isRegistered = code >= 1000 && code <= 1003 || code >= 1007 && code <= 1014;
    boolean isOfLibraryOrApplication = code >= 3000 && code <= 4999;
    return isRegistered || isOfLibraryOrApplication;
  }
}
