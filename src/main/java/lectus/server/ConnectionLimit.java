package lectus.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How many connections a server can bear beside its store. */
public final class ConnectionLimit {
  /** The other half is for the store, which cannot do without. */
  private static final int DESCRIPTORS_TO_CONNECTIONS = 2;

  private static final int LEAST = 64;

  private ConnectionLimit() {}

  /**
   * @param wanted so many were chosen, or there is memory for
   * @param descriptors that the process may have open at a time
   */
  public static int of(int wanted, long descriptors) {
    long most = Math.max(LEAST, descriptors / DESCRIPTORS_TO_CONNECTIONS);
    return (int) Math.min(wanted, most);
  }

  /** How many file descriptors this process may have open; very many where nobody knows. */
  public static long descriptors() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
