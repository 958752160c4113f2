package lectus.server.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import io.netty.handler.codec.haproxy.HAProxySSLTLV;
import java.net.InetAddress;
import lectus.http.IpLiteral;
import lectus.http.exchange.Peer;

/**
 * Takes a proxy's word for who its client is. Behind the decoder of the PROXY protocol, for one
 * connection; removed when the proxy has said it. A connection of the proxy's own, which it opens
 * to see whether the server lives, keeps the proxy's address.
 */
final class AnnouncedClient extends SimpleChannelInboundHandler<HAProxyMessage> {
  /** The most bytes of what may follow the addresses; certificates of clients are not wanted. */
  static final int MOST_DETAIL_BYTES = 4 << 10;

  private final ClientChannel client;

  AnnouncedClient(ClientChannel client) {
    this.client = client;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HAProxyMessage announced) {
    boolean isOfClient =
        announced.command() == HAProxyCommand.PROXY
            && (announced.proxiedProtocol() == HAProxyProxiedProtocol.TCP4
                || announced.proxiedProtocol() == HAProxyProxiedProtocol.TCP6);
    if (isOfClient) {
      IpLiteral.parse(announced.sourceAddress())
          .ifPresent(address -> announce(context, address, isSecure(announced)));
    }
    context.pipeline().remove(this);
  }

  private void announce(ChannelHandlerContext context, InetAddress address, boolean isSecure) {
    Peer.announce(context.channel(), address, isSecure);
    if (!client.isAdmittedFrom(address)) {
      context.close();
    }
  }

  private static boolean isSecure(HAProxyMessage announced) {
    return announced.tlvs().stream()
        .anyMatch(detail -> detail instanceof HAProxySSLTLV tls && tls.isPP2ClientSSL());
  }

  /** It is not understood, or there is none. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
