package lectus.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/** Addresses as text. No name is ever looked up, whatever a text says. */
public final class IpLiteral {
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})";

  private static final Pattern V4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");

  /** Java takes what begins like this and has a colon for an address, or else for a mistake. */
  private static final Pattern V6 = Pattern.compile("[0-9A-Fa-f:][0-9A-Fa-f:.]{1,44}");

  private IpLiteral() {}

  /** Returns the address; empty if the text is anything else, or more than an address. */
  public static Optional<InetAddress> parse(String text) {
    boolean mayBe =
        V4.matcher(text).matches() || (text.contains(":") && V6.matcher(text).matches());
    if (!mayBe) {
      return Optional.empty();
    }
    try {
      return Optional.of(InetAddress.getByName(text));
    } catch (UnknownHostException noAddress) {
      return Optional.empty();
    }
  }

  /** Returns the address as in the log, without the network interface of a local one. */
  public static String text(InetAddress address) {
    String text = address.getHostAddress();
    int scope = text.indexOf('%');
    return scope < 0 ? text : text.substring(0, scope);
  }
}
