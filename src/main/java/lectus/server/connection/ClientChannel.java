package lectus.server.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import lectus.account.LoggingIn.ClientNetwork;
import lectus.http.exchange.ClientConnection;

/** A client's connection as a Netty channel. */
final class ClientChannel implements OpenConnections.Connection {
  /** A timer, however short, fires after the event loop has polled its sockets once more. */
  private static final long ONE_MORE_LOOK_MILLIS = 1;

  private final Channel channel;
  private final ClientConnection use;
  private final OpenConnections open;
  private final Predicate<InetAddress> isProxy;
  private final String network;
  private Object culprit = this;

  /**
   * @param isProxy whether the clients of a proxy may have the address in common
   */
  ClientChannel(Channel channel, OpenConnections open, Predicate<InetAddress> isProxy) {
    this.channel = channel;
    this.use = ClientConnection.of(channel);
    this.open = open;
    this.isProxy = isProxy;
    if (channel.remoteAddress() instanceof InetSocketAddress internet) {
      this.network = networkOf(internet.getAddress());
      comesFrom(internet.getAddress());
    } else {
      this.network = "";
    }
  }

  private static String networkOf(InetAddress address) {
    return ClientNetwork.of(address.getHostAddress());
  }

  private void comesFrom(InetAddress address) {
    culprit = isProxy.test(address) ? this : networkOf(address);
  }

  /** Notes who a proxy says its client is; returns whether that one may connect. */
  boolean isAdmittedFrom(InetAddress announced) {
    comesFrom(announced);
    return !open.refuses(this);
  }

  @Override
  public String network() {
    return network;
  }

  @Override
  public Object culprit() {
    return culprit;
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
      // Not through the handlers: one that lingers after a last answer keeps the connection open.
      channel.pipeline().firstContext().close();
    } else if (channel.isOpen()) {
      open.spared(this);
    }
  }
}
