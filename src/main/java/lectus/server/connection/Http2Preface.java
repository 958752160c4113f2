package lectus.server.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection that begins like HTTP/2 and does not continue with SETTINGS (RFC 9113,
 * section 3.4). Vert.x would log it with a stack trace, before anything can prevent that. For one
 * connection; removed once its beginning is known.
 */
final class Http2Preface extends ChannelInboundHandlerAdapter {
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /**
   * The position of the first frame's type, followed by its flags: after the preface and three
   * bytes.
   */
  private static final int TYPE = 24 + 3;

  private static final int FLAGS = TYPE + 1;

  /** The last position of the stream's number, which must be 0. */
  private static final int LAST = FLAGS + 4;

  /** Vert.x's name for what makes a connection one of HTTP/2 where a request asks for it. */
  private static final String UPGRADE = "h2c";

  private static final int SETTINGS = 4;
  private static final int SETTING_BYTES = 6;
  private static final int ACKNOWLEDGEMENT = 1;

  private int seen;

  /** The length of the first frame, in bytes, as far as it was read. */
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
    if (isBroken && (seen >= PREFACE.length || hasAgreed(context))) {
      ReferenceCountUtil.release(message);
      context.close();
      return;
    }
    if (isBroken) {
      isHttp1(context, bytes, expected + 1);
    }
    if (isBroken) {
      context.pipeline().remove(this);
    } else if (seen > LAST) {
      context.pipeline().addAfter(context.name(), null, new FairReading());
      context.pipeline().remove(this);
    }
    context.fireChannelRead(message);
  }

  /** Whether client and server chose HTTP/2 in the handshake of TLS. */
  private static boolean hasAgreed(ChannelHandlerContext context) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    return tls != null && ApplicationProtocolNames.HTTP_2.equals(tls.applicationProtocol());
  }

  /** Vert.x prepares for HTTP/1 when it gets what shows it, and then a check can be put behind. */
  private static void isHttp1(ChannelHandlerContext context, ByteBuf bytes, int length) {
    context.fireChannelRead(bytes.readRetainedSlice(length));
    if (context.pipeline().get(UPGRADE) != null) {
      context.pipeline().addBefore(UPGRADE, null, new UpgradeToHttp2());
    }
  }

  /** Whether a connection that speaks HTTP/2 may have this octet next. */
  private boolean isExpected(byte octet) {
    if (seen < PREFACE.length) {
      return octet == PREFACE[seen];
    }
    if (seen < TYPE) {
      length = length << 8 | (octet & 0xff);
      return true;
    }
    return switch (seen) {
      case TYPE -> octet == SETTINGS && length % SETTING_BYTES == 0;
      case FLAGS -> (octet & ACKNOWLEDGEMENT) == 0;
      case FLAGS + 1 -> (octet & 0x7f) == 0; // one bit is reserved
      default -> octet == 0;
    };
  }

  /**
   * Has a first request that asks for HTTP/2 answered as one that does not, unless it may become
   * the first of an HTTP/2 connection (RFC 7540, section 3.2): it has no body, and its settings can
   * be read. Vert.x would answer others with nothing but a status, and keep what they send for
   * ever. Behind the decoder of HTTP/1; removed after the first request, as later ones cannot
   * upgrade.
   */
  static final class UpgradeToHttp2 extends ChannelInboundHandlerAdapter {
    private static final int SETTING_BYTES = 6;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      boolean isRequest = message instanceof HttpRequest;
      if (message instanceof HttpRequest request && asks(request)) {
        if (mayUpgrade(request)) {
          context.pipeline().addAfter(context.name(), null, new FairReading());
        } else {
          request.headers().remove(HttpHeaderNames.UPGRADE);
        }
      }
      context.fireChannelRead(message);
      if (isRequest) {
        context.pipeline().remove(this);
      }
    }

    private static boolean asks(HttpRequest request) {
      return request.headers().contains(HttpHeaderNames.UPGRADE, "h2c", true);
    }

    private static boolean mayUpgrade(HttpRequest request) {
      HttpHeaders headers = request.headers();
      List<String> settings = headers.getAll(Http2CodecUtil.HTTP_UPGRADE_SETTINGS_HEADER);
      return request.decoderResult().isSuccess()
          && request.protocolVersion() == HttpVersion.HTTP_1_1
          && HttpUtil.getContentLength(request, 0L) == 0
          && !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
          && headers.getAll(HttpHeaderNames.CONNECTION).size() == 1 // Vert.x reads no other
          && headers.containsValue(HttpHeaderNames.CONNECTION, "upgrade", true)
          && headers.containsValue(
              HttpHeaderNames.CONNECTION, Http2CodecUtil.HTTP_UPGRADE_SETTINGS_HEADER, true)
          && settings.size() == 1
          && areSettings(settings.get(0));
    }

    private static boolean areSettings(String text) {
      try {
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
        Http2Settings settings = new Http2Settings();
        while (bytes.remaining() >= SETTING_BYTES) {
          settings.put(bytes.getChar(), Long.valueOf(bytes.getInt() & 0xffff_ffffL));
        }
        return !bytes.hasRemaining();
      } catch (IllegalArgumentException notSettings) {
        return false;
      }
    }
  }

  /**
   * Hands the bytes of an HTTP/2 connection to its decoder a little at a time: a frame may be a
   * whole request of 13 bytes, and one read of the socket has thousands of them. A connection has
   * the event loop for a few milliseconds at most, and then others have their turn. Its socket is
   * not read meanwhile.
   */
  static final class FairReading extends ChannelInboundHandlerAdapter {
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
}
