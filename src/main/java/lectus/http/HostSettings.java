package lectus.http;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * By which names clients may ask for this server. A web page can have its own name point at a
 * loopback address (DNS rebinding), and browsers then take the server for the page's own; only the
 * {@code Host} that they send tells who asked.
 *
 * @param any whether every name does
 * @param names in lower case, those beside the names of loopback, which always do
 */
public record HostSettings(boolean any, Set<String> names) {
  /** Every name does: for a server that is known under names which nobody told it. */
  public static final HostSettings ANY = new HostSettings(true, Set.of());

  /** No name server knows what ends in {@code .localhost} (RFC 6761, section 6.3). */
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|.+\\.localhost|127(\\.[0-9]{1,3}){3}|\\[::1]");

  public HostSettings {
    names = Set.copyOf(names);
  }

  /** Loopback's own names and those that are given. */
  public static HostSettings named(List<String> names) {
    Set<String> lowerCase = new TreeSet<>();
    names.forEach(name -> lowerCase.add(name.toLowerCase(Locale.ROOT)));
    return new HostSettings(false, lowerCase);
  }

  /**
   * @param name without a port; an address of IPv6 in brackets
   */
  public boolean serve(String name) {
    String lowerCase = name.toLowerCase(Locale.ROOT);
    return any || names.contains(lowerCase) || LOOPBACK.matcher(lowerCase).matches();
  }
}
