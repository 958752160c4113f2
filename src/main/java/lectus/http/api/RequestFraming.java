package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.List;

/**
 * Where a request ends. Netty's parser and a proxy in front must not think differently of it, else
 * somebody smuggles a request of his own behind another (RFC 9112, section 11.2).
 */
final class RequestFraming {
  /** Vert.x' name for what parses HTTP/1. */
  static final String DECODER = "httpDecoder";

  private static final String CHUNKED = "chunked";

  /** Some clients say so beside Content-Length: it means nothing. */
  private static final String IDENTITY = "identity";

  private RequestFraming() {}

  /** Whether the body ends where Content-Length says, or else where the last chunk does. */
  static boolean isPlain(HttpServerRequest request) {
    MultiMap headers = request.headers();
    List<String> codings = headers.getAll(HttpHeaders.TRANSFER_ENCODING);
    return !headers.contains("") && (codings.isEmpty() || isPlain(codings));
  }

  private static boolean isPlain(List<String> codings) {
    String only = codings.size() == 1 ? codings.get(0) : "";
    return only.equalsIgnoreCase(CHUNKED) || only.equalsIgnoreCase(IDENTITY);
  }

  /** What comes on the connection from now on is not looked at: it may be no request. */
  static void ignoreRest(HttpConnection connection) {
    ignoreRest(((HttpServerConnection) connection).channelHandlerContext().pipeline());
  }

  /** The same, of a connection that speaks HTTP/1. */
  static void ignoreRest(ChannelPipeline pipeline) {
    pipeline.addAfter(DECODER, null, new Sink());
  }

  /** Swallows what has been parsed. */
  private static final class Sink extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
    }
  }
}
