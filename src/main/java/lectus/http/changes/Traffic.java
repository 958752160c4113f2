package lectus.http.changes;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.nio.AbstractNioChannel.NioUnsafe;
import java.util.concurrent.TimeUnit;

/**
 * Tells whether anything moved on a connection, in either direction. Outgoing bytes count one by
 * one: writing a large answer to a slow client takes minutes, and Netty only reports whole writes.
 * It is the first handler in the connection's pipeline, and belongs to its event loop.
 */
public final class Traffic extends ChannelDuplexHandler {
  private final Channel channel;
  private final boolean countsAllSent;
  private long movedNanos = System.nanoTime();
  private long takenNanos = movedNanos;
  private boolean received;
  private boolean written;
  private Object leaving;
  private long left;

  private Traffic(Channel channel, boolean countsAllSent) {
    this.channel = channel;
    this.countsAllSent = countsAllSent;
  }

  /** Watches a connection from now on; every byte sent or received is traffic. */
  public static Traffic of(Channel channel) {
    return watching(new Traffic(channel, true));
  }

  /**
   * As {@link #of}, but outgoing bytes count only if they had to wait for the client: the operating
   * system accepts a few bytes, such as a ping, for a client that has gone, too.
   */
  static Traffic byClient(Channel channel) {
    return watching(new Traffic(channel, false));
  }

  private static Traffic watching(Traffic traffic) {
    traffic.channel.pipeline().addFirst(traffic);
    return traffic;
  }

  /**
   * Returns the time without traffic, in seconds, as exactly as regular calls of this method can
   * tell.
   */
  public long stillSeconds() {
    if (hasMoved()) {
      moved();
    }
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - movedNanos);
  }

  /**
   * Returns for how long, in seconds, the client has taken nothing of what waits for it, as of the
   * last call of {@link #stillSeconds}. What it sends, such as pings, is no progress here.
   */
  public long untakenSeconds() {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - takenNanos);
  }

  /** Returns the outgoing bytes that wait in memory for the client. */
  public long waitingBytes() {
    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
    return waiting == null ? 0 : waiting.totalPendingWriteBytes();
  }

  void moved() {
    movedNanos = System.nanoTime();
  }

  private boolean hasMoved() {
    boolean left = hasLeft();
    if (left || waitingBytes() == 0) {
      takenNanos = System.nanoTime();
    }
    boolean moved = received || left;
    received = false;
    return moved;
  }

  private boolean hasLeft() {
    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
    if (waiting == null) {
      return false;
    }
    offerAgain(waiting);
    boolean allLeft = countsAllSent && written && waiting.totalPendingWriteBytes() == 0;
    boolean someLeft = waiting.current() != leaving || waiting.currentProgress() != left;
    leaving = waiting.current();
    left = waiting.currentProgress();
    written = written && !allLeft;
    return allLeft || someLeft;
  }

  /**
   * The operating system only reports room when a third of its buffer is free, which a slow client
   * takes minutes for. Writing again shows what it takes meanwhile.
   */
  private void offerAgain(ChannelOutboundBuffer waiting) {
    if (waiting.current() != null && channel.unsafe() instanceof NioUnsafe nio) {
      nio.forceFlush();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    received = true;
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    written = true;
    context.write(message, promise);
  }
}
