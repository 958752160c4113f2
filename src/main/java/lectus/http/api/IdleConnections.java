package lectus.http.api;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.timeout.IdleStateEvent;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.concurrent.TimeUnit;
import lectus.http.clock.IdleClock;
import lectus.http.memory.MemoryAccount;
import lectus.http.socket.Traffic;

/**
 * Closes connections on which nothing moves any more. Vert.x would do it, but takes a client that
 * reads a large piece of an answer slowly for one that reads nothing. Clients that take nothing of
 * what waits for them have less time while others are refused the memory that it holds. For one
 * event loop.
 */
final class IdleConnections {
  /** It is looked so often while a connection is idle, so one is closed late by that part. */
  private static final int LOOKS = 8;

  private final IdleClock clock;
  private final int timeoutSeconds;
  private final int stalledSeconds;
  private final MemoryAccount pages;
  private final long pauseMillis;

  /**
   * @param timeoutSeconds 0: they stay open for as long as nobody lacks memory
   * @param stalledSeconds how long a client may take nothing while others lack memory
   * @param pages what was sent and clients have not taken
   */
  IdleConnections(IdleClock clock, int timeoutSeconds, int stalledSeconds, MemoryAccount pages) {
    this.clock = clock;
    this.timeoutSeconds = timeoutSeconds;
    this.stalledSeconds = stalledSeconds;
    this.pages = pages;
    int shorter = timeoutSeconds > 0 ? Math.min(timeoutSeconds, stalledSeconds) : stalledSeconds;
    this.pauseMillis = TimeUnit.SECONDS.toMillis(shorter) / LOOKS;
  }

  /** The connection is closed when it has been idle for so long. */
  void watch(Vertx vertx, HttpConnection connection) {
    ChannelHandlerContext context = ((HttpServerConnection) connection).channelHandlerContext();
    Watch watch = new Watch(Traffic.of(context.channel()), context);
    IdleClock.Timer looks = clock.start(vertx, pauseMillis, watch::look);
    context.channel().closeFuture().addListener(closed -> looks.stop());
  }

  private final class Watch {
    private final Traffic traffic;
    private final ChannelHandlerContext context;
    private long refusals = pages.refusals();

    private Watch(Traffic traffic, ChannelHandlerContext context) {
      this.traffic = traffic;
      this.context = context;
    }

    private void look() {
      long stillSeconds = traffic.stillSeconds();
      if (timeoutSeconds > 0 && stillSeconds >= timeoutSeconds) {
        // As Vert.x would tell itself: it knows what the connection has become meanwhile.
        context.channel().pipeline().fireUserEventTriggered(IdleStateEvent.ALL_IDLE_STATE_EVENT);
      } else if (isInTheWay() && stillSeconds >= stalledSeconds) {
        // It would not get to a close frame either.
        context.channel().pipeline().firstContext().close();
      }
    }

    /** Whether others were refused since the last look, and it holds what they need. */
    private boolean isInTheWay() {
      long before = refusals;
      refusals = pages.refusals();
      return refusals > before && traffic.waitingBytes() > MemoryAccount.SMALL_BYTES;
    }
  }
}
