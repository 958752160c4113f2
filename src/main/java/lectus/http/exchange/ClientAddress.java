package lectus.http.exchange;

import io.vertx.core.MultiMap;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.Authority;
import lectus.http.Headers;
import lectus.http.HttpSettings.ProxySettings;
import lectus.http.IpLiteral;

/**
 * From where a client sends, as the log and the lock-out know it: what trusted proxies say in a
 * header, or what one announced before the first byte, or else the other end of the connection.
 */
public final class ClientAddress {
  private ClientAddress() {}

  /** Returns the address in digits. */
  public static String of(Exchange exchange) {
    return forwarded(exchange)
        .flatMap(Forwarded::client)
        .orElseGet(exchange.connection()::addressText);
  }

  /**
   * Returns by what a user is counted: a name, or the address of one who is not logged in. No name
   * can be taken for an address.
   */
  public static String userKey(Exchange exchange) {
    return exchange
        .user()
        .name()
        .map(name -> "user " + name)
        .orElseGet(() -> "address " + of(exchange));
  }

  /** Whether the client's request came over TLS, to this server or to a proxy in front. */
  public static boolean isSecure(Exchange exchange) {
    return forwarded(exchange)
        .flatMap(Forwarded::isSecure)
        .orElseGet(() -> exchange.request().isSSL() || exchange.connection().isSecureInFront());
  }

  /** Returns the host that the client asked for, if trusted proxies say it. */
  static Optional<String> forwardedHost(Exchange exchange) {
    return forwarded(exchange).flatMap(Forwarded::host);
  }

  private static Optional<Forwarded> forwarded(Exchange exchange) {
    ProxySettings proxies = exchange.settings().proxies();
    return proxies.trusted().isEmpty() || !proxies.trusts(exchange.connection().address())
        ? Optional.empty()
        : Optional.of(Forwarded.in(exchange.request().headers(), proxies));
  }

  /**
   * What trusted proxies say of a request. A value of another form than it ought to have counts as
   * absent: it becomes part of URLs that clients follow, or of the log.
   *
   * @param client the address from which it was sent
   * @param host under which it was sent, with its port if there is one
   * @param isSecure whether it was sent over TLS
   */
  private record Forwarded(
      Optional<String> client, Optional<String> host, Optional<Boolean> isSecure) {
    private static final Forwarded NOTHING =
        new Forwarded(Optional.empty(), Optional.empty(), Optional.empty());

    /** One of an element's pairs (RFC 7239, section 4). */
    private static final Pattern PAIR =
        Pattern.compile("\\s*([A-Za-z]{1,16})=(?:\"([^\"\\\\]*)\"|([^\\s\"(),;=]+))\\s*([;,]?)");

    /** An address, with a port or without; those of IPv6 are in brackets. */
    private static final Pattern NODE =
        Pattern.compile("\\[([0-9A-Fa-f:.]+)](?::[0-9]{1,5})?|([0-9.]+)(?::[0-9]{1,5})?");

    static Forwarded in(MultiMap headers, ProxySettings proxies) {
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
      List<Map<String, String>> elements = elements(headers.getAll(Headers.FORWARDED));
      if (elements.isEmpty()) {
        return NOTHING;
      }
      List<String> hops =
          elements.stream().map(element -> element.getOrDefault("for", "")).toList();
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
      while (at > 0 && address(hops.get(at)).filter(proxies::trusts).isPresent()) {
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
      return known.stream().flatMap(hop -> address(hop).stream()).findFirst().map(IpLiteral::text);
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

    /**
     * Returns what each proxy says in the header {@code Forwarded}, by names in lower case; nothing
     * at all if a part of it has another form, for nobody can tell then who wrote what.
     */
    private static List<Map<String, String>> elements(List<String> lines) {
      String text = String.join(",", lines);
      List<Map<String, String>> elements = new ArrayList<>();
      Map<String, String> element = new HashMap<>();
      Matcher pair = PAIR.matcher(text);
      int at = 0;
      while (at < text.length()) {
        if (!pair.region(at, text.length()).lookingAt() || !ends(pair, text)) {
          return List.of();
        }
        String value = pair.group(2) == null ? pair.group(3) : pair.group(2);
        element.put(pair.group(1).toLowerCase(Locale.ROOT), value);
        if (!pair.group(4).equals(";")) {
          elements.add(Map.copyOf(element));
          element.clear();
        }
        at = pair.end();
      }
      return elements;
    }

    private static boolean ends(Matcher pair, String text) {
      return (pair.end() == text.length()) == pair.group(4).isEmpty();
    }

    /** Returns the address of a client or proxy; empty if it has none, or hides it. */
    private static Optional<InetAddress> address(String node) {
      Matcher parts = NODE.matcher(node);
      if (!parts.matches()) {
        return IpLiteral.parse(node);
      }
      return IpLiteral.parse(parts.group(1) == null ? parts.group(2) : parts.group(1));
    }
  }
}
