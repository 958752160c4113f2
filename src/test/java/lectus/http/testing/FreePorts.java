package lectus.http.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.stream.IntStream;

/**
 * Ports for what must be told its port before it listens. They lie below those that the system
 * gives to connections and to port 0, any of which may be taken until the port is used. JVMs that
 * run tests side by side begin at different ones.
 */
public final class FreePorts {
  private static final int FIRST = 20_000;
  private static final int LAST = 32_000;
  private static final int OF_ONE_JVM = 200;

  private static int next =
      FIRST + (int) (ProcessHandle.current().pid() * OF_ONE_JVM % (LAST - FIRST));

  private FreePorts() {}

  /** A port that nobody listens on, and that this JVM has not been given lately. */
  public static int one() {
    return row(1);
  }

  /**
   * @return the first of so many free ports, one after the other
   */
  public static synchronized int row(int ports) {
    int first = taken(ports);
    while (!IntStream.range(first, first + ports).allMatch(FreePorts::isFree)) {
      first = taken(ports);
    }
    return first;
  }

  private static int taken(int ports) {
    int first = next + ports <= LAST ? next : FIRST;
    next = first + ports;
    return first;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      // On all addresses: a socket on one of them is then in the way, too.
      socket.setReuseAddress(false);
      socket.bind(new InetSocketAddress(port));
      return true;
    } catch (BindException inUse) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
