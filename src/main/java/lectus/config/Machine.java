package lectus.config;

import java.util.List;
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
  /**
   * What a server takes beside heap and store even if it is small: code, classes, threads, sockets,
   * and the store's own.
   */
  private static final long BESIDE_MIB = 160;

  /** Returns the machine of this process. */
  public static Machine here() {
    Runtime runtime = Runtime.getRuntime();
    return new Machine(
        runtime.maxMemory(),
        StorePlan.machineMemory(),
        runtime.availableProcessors(),
        ConnectionLimit.descriptors());
  }

  /**
   * Says how the memory is divided; a second sentence warns if the parts do not fit.
   *
   * @param store what the store takes beside the heap, in bytes
   * @param functions what child processes may take while they run functions, in bytes
   */
  List<String> division(long store, long functions) {
    long left = mib(memory) - mib(heap) - mib(store);
    String parts =
        "Memory: %d MB heap, %d MB store, %d MB for all else (functions up to %d MB), of %d MB"
            .formatted(mib(heap), mib(store), Math.max(0, left), mib(functions), mib(memory));
    return left >= BESIDE_MIB
        ? List.of(parts)
        : List.of(
            parts,
            "Heap and store leave too little memory: "
                + BESIDE_MIB
                + " MB are needed beside them. Give less to them (-Xmx, store.cache-bytes) or more"
                + " to the server, or it may be killed.");
  }

  private static long mib(long bytes) {
    return bytes >> 20;
  }
}
