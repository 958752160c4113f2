package lectus.http.exchange;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import lectus.http.IpLiteral;
import lectus.http.limits.VertxInternals;

/**
 * Who is at the other end of a connection: its own address, or the one that a proxy announced
 * before the first byte.
 *
 * @param text the address as in the log
 * @param isSecure whether a proxy announced that its client came over TLS
 */
public record Peer(InetAddress address, String text, boolean isSecure) {
  private static final AttributeKey<Peer> KEY = AttributeKey.valueOf(Peer.class.getName());

  /** Notes what a proxy announced of a connection. */
  public static void announce(Channel channel, InetAddress client, boolean isSecure) {
    channel.attr(KEY).set(new Peer(client, IpLiteral.text(client), isSecure));
  }

  static Peer of(Exchange exchange) {
    Channel channel = VertxInternals.handler(exchange.request().connection()).channel();
    Peer known = channel.attr(KEY).get();
    return known == null ? look(channel) : known;
  }

  private static Peer look(Channel channel) {
    InetAddress address = addressOf(channel);
    Peer peer = new Peer(address, IpLiteral.text(address), false);
    channel.attr(KEY).set(peer);
    return peer;
  }

  /** A connection that is closed already may have no address any more. */
  private static InetAddress addressOf(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress inet
        ? inet.getAddress()
        : new InetSocketAddress(0).getAddress();
  }
}
