package lectus.server.connection;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;

/**
 * Puts handlers behind the TLS handler, which is only there when a connection has become active: so
 * that they see what clients say and not how it is encrypted.
 */
final class BehindTls extends ChannelInboundHandlerAdapter {
  private final ChannelHandler first;
  private final ChannelHandler second;

  BehindTls(ChannelHandler first, ChannelHandler second) {
    this.first = first;
    this.second = second;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    ChannelHandlerContext tls = context.pipeline().context(SslHandler.class);
    if (tls != null) { // else the server has just stopped
      context.pipeline().addAfter(tls.name(), null, second);
      context.pipeline().addAfter(tls.name(), null, first);
    }
    context.fireChannelActive();
    context.pipeline().remove(this);
  }
}
