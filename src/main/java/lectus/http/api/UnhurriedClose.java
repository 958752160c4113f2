package lectus.http.api;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * How the connections of a stopping server end. Each is closed only after everything has been sent
 * to its client: Vert.x closes a connection as soon as it was handed the end of an answer, so a
 * slow client would lose what it has not read by then.
 *
 * <p>A client of HTTP/1 that is busy sends its next request right after an answer, and would not
 * learn whether it was served. So its connection stays open for half a second, and the answer to
 * that request says that it is the last one. For the connections of one event loop.
 */
@Sharable
final class UnhurriedClose extends ChannelOutboundHandlerAdapter {
  /** How long after an answer a client is still taken for busy. */
  private static final long BUSY_MILLIS = 500;

  private final Set<RequestFraming> open = new HashSet<>();
  private final Promise<Void> idle = Promise.promise();
  private boolean begun;
  private long endNanos;

  /** Awaits the last answer of a connection of HTTP/1. */
  void await(RequestFraming connection, Channel channel) {
    open.add(connection);
    channel.closeFuture().addListener(closed -> forget(connection));
  }

  /** Awaits nothing of a connection that does not speak HTTP/1 any more. */
  void forget(RequestFraming connection) {
    open.remove(connection);
    if (begun && open.isEmpty()) {
      idle.tryComplete();
    }
  }

  /** Whether no request is begun any more behind one that is under way. */
  boolean hasBegun() {
    return begun;
  }

  /**
   * Closes idle connections.
   *
   * @param patience how long to wait for slow clients before they are cut off
   * @return completes when those who were busy have had their last answers, or send nothing
   */
  Future<Void> begin(Vertx vertx, Duration patience) {
    begun = true;
    endNanos = System.nanoTime() + patience.toNanos();
    long busyNanos = TimeUnit.MILLISECONDS.toNanos(BUSY_MILLIS);
    List.copyOf(open).forEach(connection -> connection.stopUnlessBusy(busyNanos));
    if (open.isEmpty()) {
      idle.tryComplete();
    } else {
      vertx.setTimer(
          Math.min(BUSY_MILLIS, Math.max(1, patience.toMillis())), timer -> idle.tryComplete());
    }
    return idle.future();
  }

  @Override
  public void close(ChannelHandlerContext context, ChannelPromise closed) {
    if (begun) {
      closeBehind(context.writeAndFlush(Unpooled.EMPTY_BUFFER), context, closed);
    } else {
      context.close(closed);
    }
  }

  private void closeBehind(
      ChannelFuture sent, ChannelHandlerContext context, ChannelPromise closed) {
    if (sent.isDone()) {
      context.close(closed);
      return;
    }
    long left = Math.max(0, endNanos - System.nanoTime());
    ScheduledFuture<?> cut =
        context.executor().schedule(() -> context.close(closed), left, TimeUnit.NANOSECONDS);
    sent.addListener(
        done -> {
          if (cut.cancel(false)) {
            context.close(closed);
          }
        });
  }
}
