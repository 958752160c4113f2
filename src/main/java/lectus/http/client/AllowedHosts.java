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

/**
 * Which servers may be asked. Somebody who may start a replication must not reach, through this
 * server, what only this server reaches.
 *
 * @param allow host names, with {@code *} for anything, and networks; empty: all that are not
 *     denied
 * @param deny the same; denied is whatever has one such address
 */
public record AllowedHosts(List<HostRule> allow, List<HostRule> deny) {
  /**
   * Addresses of one link, at which clouds show a server its secrets, and others such; "this"
   * network (RFC 6890), which is the server itself; and a network of translators (RFC 8215), of
   * which only its operator knows what is behind it.
   */
  public static final List<String> DENIED_BY_DEFAULT =
      List.of(
          "169.254.0.0/16",
          "fe80::/10",
          "fd00:ec2::254",
          "fd20:ce::254",
          "100.100.100.200",
          "168.63.129.16",
          "0.0.0.0/8",
          "64:ff9b:1::/48");

  /**
   * The prefixes behind which addresses of IPv6 have one of IPv4: RFC 6052, 4291, 2765, 3056, 4380,
   * which has those of a server and, with all bits inverted, of a client, and RFC 8215, whose
   * prefix may go on to be as long as any of RFC 6052, section 2.2. The ninth byte is none of the
   * address.
   */
  private static final List<Embedding> EMBEDDINGS =
      List.of(
          new Embedding(range("64:ff9b::/96"), false, 12, 13, 14, 15),
          new Embedding(range("::/96"), false, 12, 13, 14, 15),
          new Embedding(range("::ffff:0:0:0/96"), false, 12, 13, 14, 15),
          new Embedding(range("2002::/16"), false, 2, 3, 4, 5),
          new Embedding(range("2001::/32"), false, 4, 5, 6, 7),
          new Embedding(range("2001::/32"), true, 12, 13, 14, 15),
          new Embedding(range("64:ff9b:1::/48"), false, 6, 7, 9, 10),
          new Embedding(range("64:ff9b:1::/48"), false, 7, 9, 10, 11),
          new Embedding(range("64:ff9b:1::/48"), false, 9, 10, 11, 12),
          new Embedding(range("64:ff9b:1::/48"), false, 12, 13, 14, 15));

  /**
   * @param places of the four bytes
   */
  private record Embedding(AddressRange prefix, boolean isInverted, int... places) {
    InetAddress in(InetAddress address) {
      byte[] from = address.getAddress();
      byte[] four = new byte[places.length];
      for (int i = 0; i < four.length; i++) {
        four[i] = (byte) (isInverted ? ~from[places[i]] : from[places[i]]);
      }
      return ofV4(four);
    }
  }

  public AllowedHosts {
    allow = List.copyOf(allow);
    deny = List.copyOf(deny);
  }

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
   * Checks that a host may be asked.
   *
   * @param host a name or an address
   * @param addresses all that it has
   * @throws LectusException {@code forbidden}
   */
  void check(String host, List<InetAddress> addresses) {
    if (!mayAsk(host, addresses)) {
      throw LectusException.forbidden("This server may not send requests to " + host + ".");
    }
  }

  private boolean mayAsk(String host, List<InetAddress> addresses) {
    List<InetAddress> all = new ArrayList<>(addresses);
    addresses.forEach(address -> all.addAll(embedded(address)));
    boolean isDenied =
        deny.stream().anyMatch(rule -> rule.names(host) || all.stream().anyMatch(rule::contains));
    boolean isAllowed =
        allow.isEmpty()
            || allow.stream().anyMatch(rule -> rule.names(host))
            || addresses.stream()
                .allMatch(address -> allow.stream().anyMatch(rule -> rule.contains(address)));
    return isAllowed && !isDenied;
  }

  /** Returns the addresses of IPv4 that a translator may send to; {@code ::1} has none. */
  private static List<InetAddress> embedded(InetAddress address) {
    if (address.isLoopbackAddress()) {
      return List.of();
    }
    return EMBEDDINGS.stream()
        .filter(it -> it.prefix().contains(address))
        .map(it -> it.in(address))
        .toList();
  }

  private static InetAddress ofV4(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("Four bytes are an address", e);
    }
  }
}
