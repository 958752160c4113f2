package lectus.server;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import lectus.error.StartException;

/**
 * Where a server listens.
 *
 * @param key of the configuration, which has the host
 * @param host an address of this machine, or its name
 * @param port 0: any free one
 */
public record ListenPort(String key, String host, int port) {

  /** Returns host:port, with an IPv6 address in brackets. */
  String address() {
    return (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host) + ":" + port;
  }

  /**
   * Takes it, before anything is made. Another process may take it between that and the start; then
   * listening fails with the same sentence.
   *
   * @throws StartException if it cannot be listened on
   */
  ServerSocket take() {
    try {
      ServerSocket socket = new ServerSocket();
      try {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getByName(host), port));
        return socket;
      } catch (IOException e) {
        socket.close();
        throw e;
      }
    } catch (IOException e) {
      throw refused(e);
    }
  }

  /** Returns one sentence that says why it cannot be listened on. */
  StartException refused(Throwable cause) {
    return new StartException(sentence(cause), cause);
  }

  private String sentence(Throwable cause) {
    try {
      InetAddress address = InetAddress.getByName(host);
      boolean isHere =
          address.isAnyLocalAddress()
              || address.isLoopbackAddress()
              || NetworkInterface.getByInetAddress(address) != null;
      if (!isHere) {
        return "\"" + key + "\" is no address of this machine: \"" + host + "\".";
      }
    } catch (UnknownHostException unknown) {
      return "\"" + key + "\" names no address: \"" + host + "\" is not known.";
    } catch (IOException notListed) {
      // The failure itself says enough.
    }
    String said = String.valueOf(cause.getMessage());
    return cause instanceof BindException && said.contains("in use")
        ? "The address " + address() + " is in use."
        : "The address " + address() + " cannot be listened on: " + said + ".";
  }
}
