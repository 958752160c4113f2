package lectus.server.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import lectus.measure.Measured;
import lectus.measure.Meters;

/** Sees each connection when it is accepted, before its first byte, and admits or refuses it. */
@Sharable
public final class ConnectionGate extends ChannelInboundHandlerAdapter implements Measured {
  private final OpenConnections open;
  private final Refusals refusals = new Refusals();
  private final int headSeconds;

  public ConnectionGate(int maxConnections, int headSeconds) {
    this.open = new OpenConnections(maxConnections);
    this.headSeconds = headSeconds;
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
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    Channel channel = (Channel) accepted;
    ClientChannel client = new ClientChannel(channel, open);
    if (open.admit(client)) {
      channel.closeFuture().addListener(closed -> open.closed(client));
      channel.pipeline().addLast(new HeadClock(headSeconds), new Http2Preface());
      context.fireChannelRead(channel);
    } else {
      refusals.refuse(channel, context.channel().eventLoop());
    }
  }
}
