package lectus.config;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The address that the server listens on.
 *
 * @param name as it is configured
 */
public record ListenAddress(String name, boolean isLoopback) {

  /**
   * @throws ConfigurationException the name has no address
   */
  public static ListenAddress of(String name) {
    try {
      return new ListenAddress(name, InetAddress.getByName(name).isLoopbackAddress());
    } catch (UnknownHostException e) {
      throw new ConfigurationException("\"host\" names no address: \"" + name + "\" is not known.");
    }
  }

  /** Returns the name as in a URL: an IPv6 address in brackets. */
  String asHost() {
    return name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name;
  }
}
