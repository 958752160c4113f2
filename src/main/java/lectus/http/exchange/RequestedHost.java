package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.http.Authority;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.IpLiteral;
import lectus.http.RequestTarget;

/**
 * Checks the name by which a client addresses the server. It is checked before anything else of a
 * request, because it tells this server's pages from pages that pretend to be.
 */
public final class RequestedHost {
  private final Exchange exchange;
  private final HttpServerRequest request;
  private final HostSettings hosts;

  public RequestedHost(Exchange exchange, HostSettings hosts) {
    this.exchange = exchange;
    this.request = exchange.request();
    this.hosts = hosts;
  }

  /**
   * @throws LectusException {@code bad_request}: there is no name, more than one, or none of this
   *     server's
   */
  public void check() {
    List<String> sent = request.headers().getAll(HttpHeaders.HOST);
    HttpVersion version = request.version();
    HostAndPort authority = version == HttpVersion.HTTP_2 ? request.authority() : null;
    boolean isMissing = sent.isEmpty() && authority == null && version != HttpVersion.HTTP_1_0;
    if (sent.size() > 1 || isMissing) {
      throw invalid();
    }
    sent.forEach(this::check);
    if (authority != null) {
      check(authority.toString());
    }
    RequestTarget.authority(exchange.uri()).ifPresent(this::check);
  }

  private void check(String text) {
    if (text.isEmpty() && hosts.any()) {
      return; // RFC 9112, section 3.2: for a target that has no authority
    }
    Optional<Authority> authority = Authority.parse(text);
    if (authority.isEmpty() || !hosts.serve(authority.get().host(), ownAddress())) {
      throw invalid();
    }
  }

  private Optional<InetAddress> ownAddress() {
    SocketAddress own = request.connection().localAddress();
    return Optional.ofNullable(own)
        .map(SocketAddress::hostAddress)
        .flatMap(text -> IpLiteral.parse(text.replaceFirst("%.*", "")));
  }

  private static LectusException invalid() {
    return LectusException.badRequest("invalid host");
  }
}
