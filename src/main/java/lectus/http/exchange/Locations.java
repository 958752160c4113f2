package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;

/** The Location header: absolute, with names encoded as CouchDB encodes them. */
public final class Locations {
  private static final String HEX = "0123456789ABCDEF";

  private Locations() {}

  public static String of(Exchange exchange, String... names) {
    StringBuilder url = new StringBuilder(96).append("http://");
    String host = exchange.header(HttpHeaders.HOST);
    url.append(host == null ? "localhost" : host);
    for (String name : names) {
      encode(name, url.append('/'));
    }
    return url.toString();
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
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || c == '_'
        || c == '.'
        || c == '-'
        || c == ':';
  }
}
