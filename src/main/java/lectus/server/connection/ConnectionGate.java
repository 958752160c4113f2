package lectus.server.connection;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import lectus.http.AddressRange;
import lectus.http.ProxySettings;
import lectus.http.exchange.ConnectionUse;
import lectus.measure.Measured;
import lectus.measure.Meters;

/** Sees each connection when it is accepted, before its first byte, and admits or refuses it. */
@Sharable
public final class ConnectionGate extends ChannelInboundHandlerAdapter implements Measured {
  private static final long CLOSE_SECONDS = 5;
  private static final int LEAST_READ_BYTES = 64;
  private static final int FIRST_READ_BYTES = 2 << 10;
  private static final int MOST_READ_BYTES = 32 << 10;

  private final List<Channel> listening = new CopyOnWriteArrayList<>();
  private final OpenConnections open;
  private final Refusals refusals;
  private final int headSeconds;
  private final boolean encrypted;
  private final List<AddressRange> announcing;
  private final ProxySettings trusted;

  /**
   * @param encrypted whether the servers behind it speak TLS
   * @param announcing where proxies are that announce who their clients are
   * @param trusted proxies that say it of each request
   */
  public ConnectionGate(
      int maxConnections,
      int headSeconds,
      boolean encrypted,
      List<AddressRange> announcing,
      ProxySettings trusted) {
    this.open = new OpenConnections(maxConnections);
    this.refusals = new Refusals(encrypted);
    this.headSeconds = headSeconds;
    this.encrypted = encrypted;
    this.announcing = announcing;
    this.trusted = trusted;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    listening.add(context.channel());
  }

  /** Takes no more connections; those that are open stay so. Thread-safe. */
  public void close() {
    listening.forEach(port -> port.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS));
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_connections", "Open connections.", open::count);
    meters.level("lectus_connections_limit", "The most that may be open.", open::most);
    meters.count("lectus_connections_refused", "Connections that were refused.", open::refused);
    meters.count(
        "lectus_connections_evicted",
        "Idle connections that were closed to make room.",
        open::evicted);
    meters.count(
        "lectus_http2_provoked_resets",
        "Streams that were reset because of what their client sent.",
        open::resets);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    Channel channel = (Channel) accepted;
    ClientChannel client = new ClientChannel(channel, open, this::isProxy);
    if (open.admit(client)) {
      ConnectionUse use = ConnectionUse.of(channel);
      use.countIn(open, () -> open.toleratesReset(client));
      channel
          .closeFuture()
          .addListener(
              closed -> {
                open.closed(client);
                use.closed();
              });
      prepare(channel, client);
      context.fireChannelRead(channel);
    } else {
      refusals.refuse(channel, context.channel().eventLoop());
    }
  }

  private void prepare(Channel channel, ClientChannel client) {
    channel.config().setRecvByteBufAllocator(oneRead());
    ChannelPipeline pipeline = channel.pipeline();
    if (isAnnounced(channel)) {
      pipeline.addLast(
          new HAProxyMessageDecoder(AnnouncedClient.MOST_DETAIL_BYTES),
          new AnnouncedClient(client));
    }
    HeadClock clock = new HeadClock(headSeconds);
    Http2Preface preface = new Http2Preface();
    if (encrypted) {
      pipeline.addLast(new PlainText(), new BehindTls(clock, preface));
    } else {
      pipeline.addLast(clock, preface);
    }
  }

  /** A socket is read once in a turn of the event loop: a read may have hundreds of requests. */
  private static RecvByteBufAllocator oneRead() {
    return new AdaptiveRecvByteBufAllocator(LEAST_READ_BYTES, FIRST_READ_BYTES, MOST_READ_BYTES)
        .maxMessagesPerRead(1);
  }

  private boolean isAnnounced(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress remote
        && announces(remote.getAddress());
  }

  private boolean announces(InetAddress address) {
    return announcing.stream().anyMatch(range -> range.contains(address));
  }

  /** A proxy on this machine may be named nowhere. */
  private boolean isProxy(InetAddress address) {
    return address.isLoopbackAddress() || announces(address) || trusted.trusts(address);
  }
}
