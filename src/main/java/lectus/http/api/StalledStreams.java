package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.http.exchange.ConnectionUse;

/**
 * The streams of an HTTP/2 connection whose client reads nothing of what waits for them, however
 * much else it does on the connection. For the connection's event loop.
 */
final class StalledStreams {
  /**
   * How a stream stood when something of it left last.
   *
   * @param window what the client lets the server send on it, in bytes
   */
  private record Standing(int window, long sinceNanos) {}

  private final ChannelHandlerContext context;
  private final Http2ConnectionHandler http2;
  private Map<Integer, Standing> standings = Map.of();

  private StalledStreams(ChannelHandlerContext context, Http2ConnectionHandler http2) {
    this.context = context;
    this.http2 = http2;
  }

  /**
   * Returns empty for a connection that does not speak HTTP/2.
   *
   * @param context Vert.x' handler in its pipeline
   */
  static Optional<StalledStreams> of(ChannelHandlerContext context) {
    return context.handler() instanceof Http2ConnectionHandler http2
        ? Optional.of(new StalledStreams(context, http2))
        : Optional.empty();
  }

  /** Looks at all streams; to be called regularly. */
  void look() {
    long now = System.nanoTime();
    Http2RemoteFlowController flow = http2.encoder().flowController();
    Map<Integer, Standing> fresh = new HashMap<>();
    forEach(
        stream -> {
          int window = flow.windowSize(stream);
          if (window <= 0 || flow.hasFlowControlled(stream)) {
            Standing before = standings.get(stream.id());
            boolean isSame = before != null && before.window() == window;
            fresh.put(stream.id(), isSame ? before : new Standing(window, now));
          }
        });
    standings = fresh;
  }

  /** Gives up those of which nothing has left for so long, by the looks. */
  void giveUp(long stalledSeconds) {
    long latest = System.nanoTime() - TimeUnit.SECONDS.toNanos(stalledSeconds);
    standings.forEach(
        (id, standing) -> {
          if (standing.sinceNanos() - latest <= 0) {
            ConnectionUse.of(context.channel()).resets(id);
            http2.resetStream(context, id, Http2Error.CANCEL.code(), context.newPromise());
          }
        });
    context.flush();
  }

  private void forEach(Consumer<Http2Stream> look) {
    try {
      http2
          .connection()
          .forEachActiveStream(
              stream -> {
                look.accept(stream);
                return true;
              });
    } catch (Http2Exception closing) {
      standings = Map.of();
    }
  }
}
