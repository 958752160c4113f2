package lectus.server.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Settings;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;

/**
 * Has a first request that asks for HTTP/2 answered as one that does not, unless it may become the
 * first of an HTTP/2 connection (RFC 7540, section 3.2): it has no body, and its settings can be
 * read. Vert.x would answer others with nothing but a status, and keep what they send for ever.
 * Behind the decoder of HTTP/1; removed after the first request, as later ones cannot upgrade.
 */
final class UpgradeToHttp2 extends ChannelInboundHandlerAdapter {
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
