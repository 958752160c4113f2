package lectus;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The address that the server listens on.
 *
 * @param name as it is configured
 */
record ListenAddress(String name, boolean isLoopback) {

  /**
   * @throws ConfigurationException the name has no address
   */
  static ListenAddress of(String name) {
    try {
      return new ListenAddress(name, InetAddress.getByName(name).isLoopbackAddress());
    } catch (UnknownHostException e) {
      throw new ConfigurationException("The host \"" + name + "\" is not known.");
    }
  }

  /** As a URL has it: an address of IPv6 in brackets. */
  String asHost() {
    return name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name;
  }
}
