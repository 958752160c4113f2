package lectus.http.socket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.nio.AbstractNioChannel.NioUnsafe;

/**
 * Tells whether anything moved on a connection, in either direction. Bytes that leave count one by
 * one: a large answer to a slow client takes minutes until it has been written as a whole, and
 * Netty tells of no less. It stands first in the connection's pipeline, and belongs to its event
 * loop.
 */
public final class Traffic extends ChannelDuplexHandler {
  private final Channel channel;
  private final boolean countsAllSent;
  private long movedNanos = System.nanoTime();
  private boolean received;
  private boolean written;
  private Object leaving;
  private long left;

  private Traffic(Channel channel, boolean countsAllSent) {
    this.channel = channel;
    this.countsAllSent = countsAllSent;
  }

  /** Watches a connection from now on: whatever is sent or comes is traffic. */
  public static Traffic of(Channel channel) {
    return watching(new Traffic(channel, true));
  }

  /**
   * The same, but of what is sent only that counts which had to wait for the client. The system
   * takes a few bytes, a ping for example, for a client that is gone, too.
   */
  static Traffic byClient(Channel channel) {
    return watching(new Traffic(channel, false));
  }

  private static Traffic watching(Traffic traffic) {
    traffic.channel.pipeline().addFirst(traffic);
    return traffic;
  }

  /** How long nothing has moved, as far as whoever asks regularly can tell, in seconds. */
  public long stillSeconds() {
    if (hasMoved()) {
      moved();
    }
    return (System.nanoTime() - movedNanos) / 1_000_000_000;
  }

  /** What was sent and waits in memory for the client, in bytes. */
  public long waitingBytes() {
    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
    return waiting == null ? 0 : waiting.totalPendingWriteBytes();
  }

  /** Counts as if something had moved just now. */
  void moved() {
    movedNanos = System.nanoTime();
  }

  private boolean hasMoved() {
    boolean moved = received | hasLeft();
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
   * The system tells of room only when a third of its buffer is free, which takes a slow client
   * minutes; what it takes meanwhile has to be tried.
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
