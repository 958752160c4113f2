package lectus.http.client;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import lectus.error.LectusException;
import lectus.http.AddressRange;
import lectus.http.IpLiteral;

/**
 * Which servers may be asked. Somebody who may start a replication must not reach, through this
 * server, what only this server reaches.
 *
 * @param allow host names, with {@code *} for anything, and networks; empty: all that are not
 *     denied
 * @param deny the same; denied is whatever has one such address
 */
public record AllowedHosts(List<HostRule> allow, List<HostRule> deny) {
  /** Addresses of one link, at which clouds show a server its secrets, and others such. */
  public static final List<String> DENIED_BY_DEFAULT =
      List.of("169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "100.100.100.200");

  private static final int IPV6_BYTES = 16;

  /** The prefixes behind which addresses of IPv6 have one of IPv4: RFC 6052, 4291, 3056. */
  private static final List<Embedding> EMBEDDINGS =
      List.of(
          new Embedding(range("64:ff9b::/96"), 12),
          new Embedding(range("::/96"), 12),
          new Embedding(range("2002::/16"), 2));

  private record Embedding(AddressRange prefix, int at) {}

  public AllowedHosts {
    allow = List.copyOf(allow);
    deny = List.copyOf(deny);
  }

  /** Parses the rules as the configuration has them. */
  public static AllowedHosts of(List<String> allow, List<String> deny) {
    return new AllowedHosts(
        allow.stream().map(HostRule::of).toList(), deny.stream().map(HostRule::of).toList());
  }

  private static AddressRange range(String text) {
    return AddressRange.parse(text).orElseThrow();
  }

  /** A pattern of host names, or a network. */
  public record HostRule(Optional<AddressRange> network, Pattern name) {
    static HostRule of(String text) {
      String pattern =
          String.join(
              ".*",
              Arrays.stream(text.toLowerCase(Locale.ROOT).split("\\*", -1))
                  .map(Pattern::quote)
                  .toList());
      return new HostRule(AddressRange.parse(text), Pattern.compile(pattern));
    }

    private boolean names(String host) {
      // A dot at the end leads to the same host.
      String bare = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
      return network.isEmpty() && name.matcher(bare.toLowerCase(Locale.ROOT)).matches();
    }

    private boolean contains(InetAddress address) {
      return network.isPresent() && network.get().contains(address);
    }
  }

  /**
   * Returns the addresses of a host, all of which may be asked. Waits for the resolver.
   *
   * @param host a name or an address, one of IPv6 in brackets or not
   * @throws LectusException {@code forbidden}
   */
  public List<InetAddress> addresses(String host) throws UnknownHostException {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    Optional<InetAddress> literal = IpLiteral.parse(bare);
    List<InetAddress> found =
        literal.isPresent() ? List.of(literal.get()) : List.of(InetAddress.getAllByName(bare));
    if (!mayAsk(bare, found)) {
      throw LectusException.forbidden("This server may not send requests to " + host + ".");
    }
    return found;
  }

  private boolean mayAsk(String host, List<InetAddress> addresses) {
    List<InetAddress> all = new ArrayList<>(addresses);
    addresses.forEach(address -> embedded(address).ifPresent(all::add));
    boolean isDenied =
        deny.stream().anyMatch(rule -> rule.names(host) || all.stream().anyMatch(rule::contains));
    boolean isAllowed =
        allow.isEmpty()
            || allow.stream().anyMatch(rule -> rule.names(host))
            || addresses.stream()
                .allMatch(address -> allow.stream().anyMatch(rule -> rule.contains(address)));
    return isAllowed && !isDenied;
  }

  /** Returns the address of IPv4 that a translator would send to. */
  private static Optional<InetAddress> embedded(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length < IPV6_BYTES
        ? Optional.empty()
        : EMBEDDINGS.stream()
            .filter(it -> it.prefix().contains(address))
            .findFirst()
            .map(it -> ofV4(Arrays.copyOfRange(bytes, it.at(), it.at() + 4)));
  }

  private static InetAddress ofV4(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("Four bytes are an address", e);
    }
  }
}
