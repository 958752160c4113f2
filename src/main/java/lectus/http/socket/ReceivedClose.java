package lectus.http.socket;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;

/**
 * Answers a client's close frame with the same code. A code that must not be sent (RFC 6455,
 * section 7.4) is answered as a protocol error. Netty's decoder detects only some of them.
 */
@Sharable
final class ReceivedClose extends ChannelInboundHandlerAdapter {
  static final ReceivedClose CHECK = new ReceivedClose();

  private static final int CODE_BYTES = 2;

  // Ends of the ranges of codes that may be sent: RFC 6455, section 7.4, and its registry.
  private static final int NORMAL_CLOSURE = 1000;
  private static final int UNSUPPORTED_DATA = 1003;
  private static final int INVALID_PAYLOAD = 1007;
  private static final int BAD_GATEWAY = 1014;
  private static final int FIRST_OF_LIBRARIES = 3000;
  private static final int LAST_OF_APPLICATIONS = 4999;

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
    boolean isRegistered =
        isBetween(NORMAL_CLOSURE, code, UNSUPPORTED_DATA)
            || isBetween(INVALID_PAYLOAD, code, BAD_GATEWAY);
    boolean isOfLibraryOrApplication = isBetween(FIRST_OF_LIBRARIES, code, LAST_OF_APPLICATIONS);
    return isRegistered || isOfLibraryOrApplication;
  }

  private static boolean isBetween(int first, int code, int last) {
    return first <= code && code <= last;
  }
}
