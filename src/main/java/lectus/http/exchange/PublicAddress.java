package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import lectus.http.message.Authority;

/**
 * The scheme and host under which the client knows this server, which trusted proxies in front may
 * say ({@link Forwarded}).
 */
public final class PublicAddress {
  private PublicAddress() {}

  /** Returns the URL of the server, without a slash at the end. */
  static String of(Exchange exchange) {
    return (isSecure(exchange) ? "https" : "http") + "://" + host(exchange);
  }

  /** Whether the client's request came over TLS, to this server or to a proxy in front. */
  public static boolean isSecure(Exchange exchange) {
    return Forwarded.of(exchange)
        .isSecure()
        .orElseGet(() -> exchange.request().isSSL() || Peer.of(exchange).isSecure());
  }

  /** Returns the host, with the port unless it is the scheme's default. */
  public static String host(Exchange exchange) {
    return Forwarded.of(exchange).host().orElseGet(() -> addressed(exchange));
  }

  private static String addressed(Exchange exchange) {
    String host = exchange.header(HttpHeaders.HOST);
    return isHost(host) ? host : authority(exchange);
  }

  /** HTTP/2 has a pseudo-header for the host (RFC 9113, section 8.3.1). */
  private static String authority(Exchange exchange) {
    HostAndPort authority = exchange.request().authority();
    String text = authority == null ? null : authority.toString();
    return isHost(text) ? text : ownAddress(exchange);
  }

  private static boolean isHost(String text) {
    return text != null && Authority.parse(text).isPresent();
  }

  private static String ownAddress(Exchange exchange) {
    SocketAddress own = exchange.request().localAddress();
    String ip = own.hostAddress();
    return (ip.indexOf(':') < 0 ? ip : '[' + ip + ']') + ':' + own.port();
  }
}
