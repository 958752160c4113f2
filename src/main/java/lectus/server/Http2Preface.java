package lectus.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;

/**
 * Closes a connection that begins as HTTP/2 does and does not go on with SETTINGS (RFC 9113,
 * section 3.4). Vert.x would log it with a trace before anybody can have told it not to. For one
 * connection; gone when its beginning is known.
 */
final class Http2Preface extends ChannelInboundHandlerAdapter {
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** Where the first frame has its type and its flags: behind the preface and three bytes. */
  private static final int TYPE = 24 + 3;

  private static final int FLAGS = TYPE + 1;

  /** Where its stream ends, which must be 0. */
  private static final int LAST = FLAGS + 4;

  private static final int SETTINGS = 4;
  private static final int SETTING_BYTES = 6;
  private static final int ACKNOWLEDGEMENT = 1;

  private int seen;

  /** Of the first frame, in bytes, as far as it has been seen. */
  private int length;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    int expected = 0;
    while (expected < bytes.readableBytes()
        && seen <= LAST
        && isExpected(bytes.getByte(bytes.readerIndex() + expected))) {
      expected++;
      seen++;
    }
    boolean isBroken = expected < bytes.readableBytes() && seen <= LAST;
    if (isBroken && seen >= PREFACE.length) {
      ReferenceCountUtil.release(message);
      context.close();
      return;
    }
    if (isBroken || seen > LAST) {
      context.pipeline().remove(this);
    }
    context.fireChannelRead(message);
  }

  /** Whether the octet may come next of a connection that speaks HTTP/2. */
  private boolean isExpected(byte octet) {
    if (seen < PREFACE.length) {
      return octet == PREFACE[seen];
    }
    if (seen < TYPE) {
      length = length << 8 | octet & 0xff;
      return true;
    }
    return switch (seen) {
      case TYPE -> octet == SETTINGS && length % SETTING_BYTES == 0;
      case FLAGS -> (octet & ACKNOWLEDGEMENT) == 0;
      case FLAGS + 1 -> (octet & 0x7f) == 0; // a bit is reserved
      default -> octet == 0;
    };
  }
}
