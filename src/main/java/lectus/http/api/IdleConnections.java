package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.timeout.IdleStateEvent;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.http.changes.Traffic;
import lectus.http.exchange.ClientConnection;
import lectus.http.exchange.DeliveryMetrics;
import lectus.http.limits.IdleClock;
import lectus.http.limits.MemoryAccount;

/**
 * Closes idle connections. Vert.x would do it, but it takes a client that reads a large piece of an
 * answer slowly for one that reads nothing. Clients that read nothing of what waits for them get
 * less time while others are refused the memory that it holds. For one event loop.
 */
final class IdleConnections {
  /**
   * The number of checks per time-out; a connection is closed late by at most this fraction of it.
   */
  private static final int LOOKS = 8;

  private final IdleClock clock;
  private final int timeoutSeconds;
  private final int stalledSeconds;
  private final MemoryAccount pages;
  private final DeliveryMetrics figures;
  private final long pauseMillis;

  /**
   * @param timeoutSeconds 0: connections stay open as long as nobody lacks memory
   * @param stalledSeconds how long a client may read nothing while others lack memory
   * @param pages what was sent and clients have not read
   */
  IdleConnections(
      IdleClock clock,
      int timeoutSeconds,
      int stalledSeconds,
      MemoryAccount pages,
      DeliveryMetrics figures) {
    this.figures = figures;
    this.clock = clock;
    this.timeoutSeconds = timeoutSeconds;
    this.stalledSeconds = stalledSeconds;
    this.pages = pages;
    int shorter = timeoutSeconds > 0 ? Math.min(timeoutSeconds, stalledSeconds) : stalledSeconds;
    this.pauseMillis = TimeUnit.SECONDS.toMillis(shorter) / LOOKS;
  }

  /** Closes the connection once it has been idle for the time-out. */
  void watch(Vertx vertx, ChannelHandlerContext context) {
    Watch watch = new Watch(Traffic.of(context.channel()), context);
    IdleClock.Timer looks = clock.start(vertx, pauseMillis, watch::look);
    context.channel().closeFuture().addListener(closed -> looks.stop());
  }

  private final class Watch {
    private final Traffic traffic;
    private final ChannelHandlerContext context;
    private final Optional<StalledStreams> streams;
    private long refusals = pages.refusals();

    private Watch(Traffic traffic, ChannelHandlerContext context) {
      this.traffic = traffic;
      this.context = context;
      this.streams =
          context.handler() instanceof Http2ConnectionHandler http2
              ? Optional.of(new StalledStreams(context, http2))
              : Optional.empty();
    }

    private void look() {
      streams.ifPresent(StalledStreams::look);
      boolean isShort = wereOthersRefused();
      long stillSeconds = traffic.stillSeconds();
      if (timeoutSeconds > 0 && stillSeconds >= timeoutSeconds) {
        if (traffic.waitingBytes() > 0) {
          figures.gaveUp();
        }
        // The event that Vert.x's own idle handler would fire: Vert.x knows which protocol the
        // connection speaks by now.
        context.channel().pipeline().fireUserEventTriggered(IdleStateEvent.ALL_IDLE_STATE_EVENT);
      } else if (isShort && holdsMuch() && traffic.untakenSeconds() >= stalledSeconds) {
        // A close frame could not be delivered either.
        figures.gaveUp();
        context.channel().pipeline().firstContext().close();
      } else if (isShort) {
        streams.ifPresent(stalled -> stalled.giveUp(stalledSeconds));
      }
    }

    private boolean wereOthersRefused() {
      long before = refusals;
      refusals = pages.refusals();
      return refusals > before;
    }

    private boolean holdsMuch() {
      return traffic.waitingBytes() > MemoryAccount.SMALL_BYTES;
    }
  }

  /**
   * The streams of an HTTP/2 connection whose client reads nothing of what waits for them, however
   * much else it does on the connection. For the connection's event loop.
   */
  private static final class StalledStreams {
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
              ClientConnection.of(context.channel()).resets(id);
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
}
