package lectus.config;

import lectus.server.StorePlan;
import lectus.server.connection.ConnectionLimit;

/**
 * The resources from which settings are derived that nobody set.
 *
 * @param heap the maximum size of the heap, in bytes
 * @param memory of the machine or the container, the heap included, in bytes
 * @param descriptors that the process may have open at a time
 */
public record Machine(long heap, long memory, int cores, long descriptors) {
  /** Returns the machine of this process. */
  public static Machine here() {
    Runtime runtime = Runtime.getRuntime();
    return new Machine(
        runtime.maxMemory(),
        StorePlan.machineMemory(),
        runtime.availableProcessors(),
        ConnectionLimit.descriptors());
  }
}
