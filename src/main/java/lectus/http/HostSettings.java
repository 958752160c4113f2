package lectus.http;

import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import lectus.http.message.IpLiteral;

/**
 * The names by which clients may address this server. A web page can have its own name resolve to a
 * loopback address (DNS rebinding), and browsers then take the server for the page's own origin.
 * Only the {@code Host} header that they send tells who asked.
 *
 * @param any whether every name is allowed
 * @param names in lower case, in addition to the names of loopback, which are always allowed
 */
public record HostSettings(boolean any, Set<String> names) {
  /** Allows every name: for a server whose names are not all known to it. */
  public static final HostSettings ANY = new HostSettings(true, Set.of());

  /** No name server resolves names that end in {@code .localhost} (RFC 6761, section 6.3). */
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|.+\\.localhost|127(\\.[0-9]{1,3}){3}|\\[::1]");

  private static final Pattern BRACKETS = Pattern.compile("[\\[\\]]");

  public HostSettings {
    names = Set.copyOf(names);
  }

  /** Allows loopback's own names and the given ones. */
  public static HostSettings named(List<String> names) {
    Set<String> lowerCase = new TreeSet<>();
    names.forEach(name -> lowerCase.add(name.toLowerCase(Locale.ROOT)));
    return new HostSettings(false, lowerCase);
  }

  /**
   * @param name without a port; an address of IPv6 in brackets
   * @param own the address that the client is connected to, which names this server for sure: only
   *     a name can be made to lead elsewhere
   */
  public boolean serve(String name, Optional<InetAddress> own) {
    String lowerCase = name.toLowerCase(Locale.ROOT);
    return any
        || names.contains(lowerCase)
        || LOOPBACK.matcher(lowerCase).matches()
        || (own.isPresent() && own.equals(IpLiteral.parse(BRACKETS.matcher(name).replaceAll(""))));
  }
}
