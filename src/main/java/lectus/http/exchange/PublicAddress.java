package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import lectus.http.message.Authority;
import lectus.http.message.Headers;

/**
 * The scheme and host under which the client knows this server. A proxy in front sends them in
 * {@code X-Forwarded-Host}, {@code -Proto} and {@code -Ssl}, read as CouchDB reads them. A value
 * other than a host, or a host and a port, is ignored: it becomes part of a URL that clients
 * follow.
 */
public final class PublicAddress {
  private PublicAddress() {}

  /** Returns the URL of the server, without a slash at the end. */
  static String of(Exchange exchange) {
    return (isSecure(exchange) ? "https" : "http") + "://" + host(exchange);
  }

  /** Whether the client's request came over TLS, to this server or to a proxy in front. */
  public static boolean isSecure(Exchange exchange) {
    return "on".equals(exchange.header(Headers.FORWARDED_SSL))
        || "https".equals(exchange.header(Headers.FORWARDED_PROTO));
  }

  /** Returns the host, with the port unless it is the scheme's default. */
  public static String host(Exchange exchange) {
    String forwarded = exchange.header(Headers.FORWARDED_HOST);
    if (isHost(forwarded)) {
      return forwarded;
    }
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
