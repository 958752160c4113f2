package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import lectus.http.netty.VertxInternals;

/**
 * Determines where a request ends. Netty's parser and a proxy in front must agree on it, or a
 * client could smuggle a second request behind the first (RFC 9112, section 11.2).
 */
final class RequestFraming {
  /** Vert.x's name for the HTTP/1 decoder. */
  static final String DECODER = "httpDecoder";

  private static final String CHUNKED = "chunked";

  /** Some clients send it beside Content-Length; it has no effect. */
  private static final String IDENTITY = "identity";

  private RequestFraming() {}

  /** Whether the body ends where Content-Length says, or else with the last chunk. */
  static boolean isPlain(HttpServerRequest request) {
    MultiMap headers = request.headers();
    List<String> codings = headers.getAll(HttpHeaders.TRANSFER_ENCODING);
    return !headers.contains("") && (codings.isEmpty() || isPlain(codings));
  }

  private static boolean isPlain(List<String> codings) {
    String only = codings.size() == 1 ? codings.get(0) : "";
    return only.equalsIgnoreCase(CHUNKED) || only.equalsIgnoreCase(IDENTITY);
  }

  /** Ignores all further bytes of the connection: they may not be a request. */
  static void ignoreRest(HttpConnection connection) {
    ignoreRest(VertxInternals.handler(connection).pipeline());
  }

  /** Does the same for a connection that speaks HTTP/1. */
  static void ignoreRest(ChannelPipeline pipeline) {
    pipeline.addAfter(DECODER, null, new Sink());
  }

  /** Discards what the decoder has parsed. */
  private static final class Sink extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
    }
  }
}
