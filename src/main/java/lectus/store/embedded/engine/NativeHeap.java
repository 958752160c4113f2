package lectus.store.embedded.engine;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Returns memory freed by RocksDB to the system. The C library keeps what memtables and compactions
 * freed, often more than a hundred MB, for later allocations until it is asked to trim it.
 */
final class NativeHeap {
  private static final Logger LOG = LoggerFactory.getLogger(NativeHeap.class);
  private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";

  /** Available on Linux with glibc, from JDK 17.0.9. */
  private static final String TRIM = "systemTrimNativeHeap";

  private NativeHeap() {}

  /** Returns free memory to the system. Returns false if the JVM has no command for that. */
  static boolean trim() {
    try {
      ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName(COMMANDS), TRIM, null, null);
      return true;
    } catch (JMException unknown) {
      LOG.debug("The native heap cannot be trimmed", unknown);
      return false;
    }
  }
}
