package lectus.server.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import lectus.account.ClientNetwork;
import lectus.http.exchange.ConnectionUse;

/** A client's connection as a Netty channel. */
final class ClientChannel implements OpenConnections.Connection {
  /** A timer, however short, fires after the event loop has polled its sockets once more. */
  private static final long ONE_MORE_LOOK_MILLIS = 1;

  private final Channel channel;
  private final ConnectionUse use;
  private final OpenConnections open;
  private final String network;

  ClientChannel(Channel channel, OpenConnections open) {
    this.channel = channel;
    this.use = ConnectionUse.of(channel);
    this.open = open;
    this.network = networkOf(channel.remoteAddress());
  }

  private static String networkOf(SocketAddress address) {
    return address instanceof InetSocketAddress internet
        ? ClientNetwork.of(internet.getAddress().getHostAddress())
        : "";
  }

  @Override
  public String network() {
    return network;
  }

  /** A connection is also in use while its client has not read an answer yet. */
  @Override
  public boolean isIdle() {
    ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer();
    return use.isIdle() && (unsent == null || unsent.totalPendingWriteBytes() == 0);
  }

  @Override
  public long idleSinceNanos() {
    return use.idleSinceNanos();
  }

  @Override
  public boolean hasBeenUsed() {
    return use.requestsBegun() > 0;
  }

  /** On a busy loop a request may have arrived that was not read yet. It is read first. */
  @Override
  public void evict() {
    try {
      channel.eventLoop().schedule(this::closeIfIdle, ONE_MORE_LOOK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException stopped) {
      channel.close();
    }
  }

  private void closeIfIdle() {
    if (isIdle()) {
      channel.close();
    } else if (channel.isOpen()) {
      open.spared(this);
    }
  }
}
