package lectus.http;

import java.net.InetAddress;
import java.util.List;

/**
 * The proxies in front of the server, which say in a header who their clients are. What anybody
 * else says of that is ignored.
 *
 * @param trusted where they are
 * @param standard whether they write {@code Forwarded} (RFC 7239) and not {@code X-Forwarded-For}
 *     and its like. Only one of the two is read: a proxy that writes one may pass on what its
 *     client wrote into the other.
 */
public record ProxySettings(List<AddressRange> trusted, boolean standard) {
  /** There are none. */
  public static final ProxySettings NONE = new ProxySettings(List.of(), false);

  public ProxySettings {
    trusted = List.copyOf(trusted);
  }

  /** Whether one of them has this address. */
  public boolean trusts(InetAddress address) {
    for (AddressRange range : trusted) {
      if (range.contains(address)) {
        return true;
      }
    }
    return false;
  }
}
