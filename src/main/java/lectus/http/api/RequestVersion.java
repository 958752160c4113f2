package lectus.http.api;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.vertx.core.http.HttpConnection;
import lectus.http.netty.VertxInternals;

/**
 * Treats a request of a version other than HTTP/1.0 and 1.1 as one that could not be parsed. Vert.x
 * would answer 501 on its own, in a version that it does not speak either.
 */
@Sharable
final class RequestVersion extends ChannelInboundHandlerAdapter {
  private static final IllegalArgumentException UNKNOWN =
      new IllegalArgumentException("The request is of no known version of HTTP.");

  /**
   * Checks the requests of an HTTP/1 connection; HTTP/2's requests have no version. The first
   * request has passed the decoder already.
   */
  void watch(HttpConnection connection) {
    ChannelHandlerContext context = VertxInternals.handler(connection);
    ChannelPipeline pipeline = context.pipeline();
    if (pipeline.get(RequestFraming.DECODER) != null) {
      pipeline.addBefore(context.name(), null, this);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest request && !isKnown(request.protocolVersion())) {
      request.setProtocolVersion(HttpVersion.HTTP_1_1);
      if (request.decoderResult().isSuccess()) {
        request.setDecoderResult(DecoderResult.failure(UNKNOWN));
        RequestFraming.ignoreRest(context.pipeline());
      }
    }
    context.fireChannelRead(message);
  }

  /** Vert.x compares by identity, so a version that is only equal is not known. */
  private static boolean isKnown(HttpVersion version) {
    return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
  }
}
