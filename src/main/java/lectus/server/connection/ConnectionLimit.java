package lectus.server.connection;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The number of connections that a server can bear beside its store. */
public final class ConnectionLimit {
  /** The other half is for the store, which cannot do without them. */
  private static final int DESCRIPTORS_TO_CONNECTIONS = 2;

  private static final int LEAST = 64;

  private ConnectionLimit() {}

  /**
   * @param wanted the chosen number, or the number that there is memory for
   * @param descriptors that the process may have open at a time
   */
  public static int of(int wanted, long descriptors) {
    long most = Math.max(LEAST, descriptors / DESCRIPTORS_TO_CONNECTIONS);
    return (int) Math.min(wanted, most);
  }

  /**
   * Returns how many file descriptors this process may have open; a very large number if unknown.
   */
  public static long descriptors() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
