package lectus.http.exchange;

import io.vertx.core.MultiMap;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.http.Authority;
import lectus.http.ForwardedElements;
import lectus.http.Headers;
import lectus.http.HttpSettings.ProxySettings;
import lectus.http.IpLiteral;

/**
 * What trusted proxies say of a request. A value of another form than it ought to have counts as
 * absent: it becomes part of URLs that clients follow, or of the log.
 *
 * @param client the address from which it was sent
 * @param host under which it was sent, with its port if there is one
 * @param isSecure whether it was sent over TLS
 */
record Forwarded(Optional<String> client, Optional<String> host, Optional<Boolean> isSecure) {
  private static final Forwarded NOTHING =
      new Forwarded(Optional.empty(), Optional.empty(), Optional.empty());

  static Forwarded of(Exchange exchange) {
    ProxySettings proxies = exchange.settings().proxies();
    if (proxies.trusted().isEmpty() || !proxies.trusts(Peer.of(exchange).address())) {
      return NOTHING;
    }
    MultiMap headers = exchange.request().headers();
    return proxies.standard() ? standard(headers, proxies) : customary(headers, proxies);
  }

  /** Read as CouchDB reads them; there is no word for each proxy but in the first header. */
  private static Forwarded customary(MultiMap headers, ProxySettings proxies) {
    List<String> hops = words(headers.getAll(Headers.FORWARDED_FOR));
    Optional<Boolean> isSecure = scheme(headers.get(Headers.FORWARDED_PROTO));
    return new Forwarded(
        client(hops, outermost(hops, proxies)),
        host(headers.get(Headers.FORWARDED_HOST)),
        "on".equals(headers.get(Headers.FORWARDED_SSL)) ? Optional.of(true) : isSecure);
  }

  private static Forwarded standard(MultiMap headers, ProxySettings proxies) {
    List<Map<String, String>> elements = ForwardedElements.parse(headers.getAll(Headers.FORWARDED));
    if (elements.isEmpty()) {
      return NOTHING;
    }
    List<String> hops = elements.stream().map(element -> element.getOrDefault("for", "")).toList();
    int outermost = outermost(hops, proxies);
    Map<String, String> element = elements.get(outermost);
    return new Forwarded(
        client(hops, outermost), host(element.get("host")), scheme(element.get("proto")));
  }

  /**
   * Returns the position of what the proxy says that the client itself has reached: each proxy
   * appends who came to it, and only what trusted ones append counts. -1: nobody says anything.
   */
  private static int outermost(List<String> hops, ProxySettings proxies) {
    int at = hops.size() - 1;
    while (at > 0 && ForwardedElements.address(hops.get(at)).filter(proxies::trusts).isPresent()) {
      at--;
    }
    return at;
  }

  /** A proxy may keep its client to itself; then the client of the next one counts. */
  private static Optional<String> client(List<String> hops, int outermost) {
    if (outermost < 0) {
      return Optional.empty();
    }
    List<String> known = hops.subList(outermost, Math.min(outermost + 2, hops.size()));
    return known.stream()
        .flatMap(hop -> ForwardedElements.address(hop).stream())
        .findFirst()
        .map(IpLiteral::text);
  }

  private static Optional<String> host(String text) {
    return Optional.ofNullable(text).filter(host -> Authority.parse(host).isPresent());
  }

  private static Optional<Boolean> scheme(String text) {
    return Optional.ofNullable(text)
        .filter(scheme -> scheme.equals("https") || scheme.equals("http"))
        .map("https"::equals);
  }

  private static List<String> words(List<String> lines) {
    return lines.stream()
        .flatMap(line -> Arrays.stream(line.split(",", -1)))
        .map(String::strip)
        .toList();
  }
}
