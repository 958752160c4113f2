package lectus.http.exchange;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import lectus.http.limits.VertxInternals;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How much a client may send of a body over HTTP/2 before it is told that it was taken (RFC 9113,
 * section 5.2). Nobody has counted what comes in the first window, so it is small; it becomes wider
 * when there is room for more. The window of the connection is as wide as those of all its streams:
 * bodies that wait for room would otherwise keep those from coming that have it.
 */
public final class StreamWindow {
  private static final Logger LOG = LoggerFactory.getLogger(StreamWindow.class);

  /** The window of a new stream. */
  public static final int FIRST_BYTES = 64 << 10;

  private static final int WIDE_BYTES = 256 << 10;

  private StreamWindow() {}

  /** Returns the window of a connection with so many streams. */
  public static int ofConnection(int streams) {
    return (int) Math.min(Integer.MAX_VALUE, (long) streams * WIDE_BYTES);
  }

  /** Widens the window of a request, if it has one, on its event loop. To be called once. */
  static void widen(HttpServerRequest request) {
    ChannelHandlerContext context = VertxInternals.handler(request.connection());
    if (request.version() == HttpVersion.HTTP_2
        && context.handler() instanceof Http2ConnectionHandler http2) {
      Http2Stream stream = http2.connection().stream((int) request.streamId());
      try {
        if (stream != null) {
          http2.decoder().flowController().incrementWindowSize(stream, WIDE_BYTES - FIRST_BYTES);
          http2.flush(context);
        }
      } catch (Http2Exception closed) {
        LOG.debug("A stream that ends keeps its window", closed);
      }
    }
  }
}
