package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import lectus.http.message.Authority;
import lectus.http.message.Headers;

/**
 * Under which scheme and host the client knows this server. A proxy in front says so in {@code
 * X-Forwarded-Host}, {@code -Proto} and {@code -Ssl}, as CouchDB reads them. What is no host, or a
 * host and a port, is passed over: whatever stands there becomes part of a URL that clients follow.
 */
public final class PublicAddress {
  private PublicAddress() {}

  /** Without a slash at the end. */
  static String of(Exchange exchange) {
    return scheme(exchange) + "://" + host(exchange);
  }

  private static String scheme(Exchange exchange) {
    boolean secure =
        "on".equals(exchange.header(Headers.FORWARDED_SSL))
            || "https".equals(exchange.header(Headers.FORWARDED_PROTO));
    return secure ? "https" : "http";
  }

  /** With the port, unless it is the scheme's own. */
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
