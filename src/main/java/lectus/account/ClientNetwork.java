package lectus.account;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;

/** The network in which one client can choose its address. */
public final class ClientNetwork {
  /** RFC 4291, section 2.5.4: whoever has an address of IPv6 has all with the same 64 bits. */
  private static final int NETWORK_BYTES = 8;

  private ClientNetwork() {}

  /**
   * Returns the network of an IPv6 address, and any other text as it is.
   *
   * @param address in digits
   */
  public static String of(String address) {
    if (address.indexOf(':') < 0) {
      return address;
    }
    try {
      // What has a colon is no name, so nobody looks it up.
      return InetAddress.getByName(address) instanceof Inet6Address six ? networkOf(six) : address;
    } catch (UnknownHostException noAddress) {
      return address;
    }
  }

  private static String networkOf(Inet6Address address) {
    return HexFormat.of().formatHex(Arrays.copyOf(address.getAddress(), NETWORK_BYTES)) + "::/64";
  }
}
