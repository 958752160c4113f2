package lectus.store.embedded.engine;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that RocksDB has freed. The C library keeps what memtables and compactions gave back,
 * often more than a hundred MB, for allocations to come; the system gets it only when asked for.
 */
final class NativeHeap {
  private static final Logger LOG = LoggerFactory.getLogger(NativeHeap.class);
  private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";

  /** Of Linux with glibc, from JDK 17.0.9 on. */
  private static final String TRIM = "systemTrimNativeHeap";

  private NativeHeap() {}

  /** Gives free memory back to the system; false where the JVM has no command for that. */
  static boolean trim() {
    try {
      ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName(COMMANDS), TRIM, null, null);
      return true;
    } catch (JMException unknown) {
      LOG.debug("the native heap is not trimmed", unknown);
      return false;
    }
  }
}
