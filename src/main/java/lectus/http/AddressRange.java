package lectus.http;

import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Addresses that begin alike, such as {@code 10.0.0.0/8}.
 *
 * @param bits that they have in common with the first one
 */
public record AddressRange(InetAddress first, int bits) {
  private static final Pattern FORM = Pattern.compile("([^/]+)(?:/([0-9]{1,3}))?");

  /** Returns the range; a single address without a slash; empty if the text is neither. */
  public static Optional<AddressRange> parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    return IpLiteral.parse(parts.group(1)).flatMap(first -> of(first, parts.group(2)));
  }

  private static Optional<AddressRange> of(InetAddress first, String bits) {
    int most = first.getAddress().length * Byte.SIZE;
    int common = bits == null ? most : Integer.parseInt(bits);
    return common <= most ? Optional.of(new AddressRange(first, common)) : Optional.empty();
  }

  /** Whether the address is one of them; no address of IPv4 is one of IPv6. */
  public boolean contains(InetAddress address) {
    byte[] mine = first.getAddress();
    byte[] other = address.getAddress();
    if (mine.length != other.length) {
      return false;
    }
    int whole = bits / Byte.SIZE;
    for (int i = 0; i < whole; i++) {
      if (mine[i] != other[i]) {
        return false;
      }
    }
    int rest = bits % Byte.SIZE;
    return rest == 0 || (mine[whole] ^ other[whole]) >> (Byte.SIZE - rest) == 0;
  }
}
