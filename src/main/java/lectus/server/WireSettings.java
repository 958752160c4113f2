package lectus.server;

import java.util.List;
import java.util.Optional;
import lectus.http.AddressRange;
import lectus.server.connection.TlsSettings;

/**
 * What comes before the first request of a connection.
 *
 * @param tls empty: connections are not encrypted
 * @param announcing where proxies are that announce each connection's client (PROXY protocol)
 */
public record WireSettings(Optional<TlsSettings> tls, List<AddressRange> announcing) {
  public WireSettings {
    announcing = List.copyOf(announcing);
  }
}
