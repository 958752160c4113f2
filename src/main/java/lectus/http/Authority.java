package lectus.http;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A host and, optionally, a port, as in {@code Host} (RFC 9110, section 7.2).
 *
 * @param host a name or an IPv4 address, or an IPv6 address in brackets
 * @param port with its colon; empty if there is none
 */
public record Authority(String host, String port) {
  private static final Pattern FORM =
      Pattern.compile("([A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}])((?::[0-9]{1,5})?)");

  /**
   * Returns empty if the text is not an authority; user information before the host is not allowed.
   */
  public static Optional<Authority> parse(String text) {
    Matcher parts = FORM.matcher(text);
    return parts.matches()
        ? Optional.of(new Authority(parts.group(1), parts.group(2)))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return host + port;
  }
}
