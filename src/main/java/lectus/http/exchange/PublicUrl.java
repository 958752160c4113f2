package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import lectus.error.LectusException;
import lectus.http.Authority;

/**
 * The URLs under which the client knows this server. Trusted proxies in front may say their scheme
 * and host ({@link ClientAddress}).
 */
public final class PublicUrl {
  private static final String HEX = "0123456789ABCDEF";

  private PublicUrl() {}

  /** Returns the URL of the server, without a slash at the end. */
  static String of(Exchange exchange) {
    return (ClientAddress.isSecure(exchange) ? "https" : "http") + "://" + host(exchange);
  }

  /** Returns the host, with the port unless it is the scheme's default. */
  public static String host(Exchange exchange) {
    return ClientAddress.forwardedHost(exchange).orElseGet(() -> addressed(exchange));
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

  /** Returns a Location header: absolute, with names encoded as CouchDB encodes them. */
  public static String location(Exchange exchange, String... names) {
    StringBuilder url = new StringBuilder(96).append(of(exchange));
    for (String name : names) {
      encode(name, url.append('/'));
    }
    return url.toString();
  }

  /**
   * Returns the URL of a path that the client chose.
   *
   * @param path as it goes into a request line
   * @throws LectusException {@code bad_request}: the path does not begin with a slash, so that the
   *     URL might lead to another server, or has characters that no URL has
   */
  public static String ofPath(Exchange exchange, String path) {
    boolean isPath = path.startsWith("/") && path.chars().allMatch(c -> c > ' ' && c < 0x7f);
    if (!isPath) {
      throw LectusException.badRequest("path must begin with a /.");
    }
    return of(exchange) + path;
  }

  /** Returns a text as it may stand in a query. */
  public static String encoded(String text) {
    StringBuilder encoded = new StringBuilder(text.length() + 32);
    encode(text, encoded);
    return encoded.toString();
  }

  private static void encode(String name, StringBuilder url) {
    for (int i = 0; i < name.length(); i++) {
      if (!isPlain(name.charAt(i))) {
        encodeBytes(name.substring(i).getBytes(StandardCharsets.UTF_8), url);
        return;
      }
      url.append(name.charAt(i));
    }
  }

  private static void encodeBytes(byte[] utf8, StringBuilder url) {
    for (byte b : utf8) {
      if (isPlain((char) (b & 0xff))) {
        url.append((char) b);
      } else {
        url.append('%').append(HEX.charAt(b >> 4 & 0xf)).append(HEX.charAt(b & 0xf));
      }
    }
  }

  private static boolean isPlain(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '_'
        || c == '.'
        || c == '-'
        || c == ':';
  }
}
