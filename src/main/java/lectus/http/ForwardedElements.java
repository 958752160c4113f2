package lectus.http;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The header {@code Forwarded} (RFC 7239, section 4): an element for each proxy, in their order.
 */
public final class ForwardedElements {
  private static final Pattern PAIR =
      Pattern.compile("\\s*([A-Za-z]{1,16})=(?:\"([^\"\\\\]*)\"|([^\\s\"(),;=]+))\\s*([;,]?)");

  /** An address, with a port or without; those of IPv6 are in brackets. */
  private static final Pattern NODE =
      Pattern.compile("\\[([0-9A-Fa-f:.]+)](?::[0-9]{1,5})?|([0-9.]+)(?::[0-9]{1,5})?");

  private ForwardedElements() {}

  /**
   * Returns what each proxy says, by names in lower case; nothing at all if a part of it has
   * another form, for nobody can tell then who wrote what.
   */
  public static List<Map<String, String>> parse(List<String> lines) {
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
  public static Optional<InetAddress> address(String node) {
    Matcher parts = NODE.matcher(node);
    if (!parts.matches()) {
      return IpLiteral.parse(node);
    }
    return IpLiteral.parse(parts.group(1) == null ? parts.group(2) : parts.group(1));
  }
}
