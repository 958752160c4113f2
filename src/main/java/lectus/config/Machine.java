package lectus.config;

import java.util.ArrayList;
import java.util.List;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.server.StorePlan;
import lectus.server.connection.ConnectionGate.ConnectionLimit;

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

  public static Machine here() {
    Runtime runtime = Runtime.getRuntime();
    return new Machine(
        runtime.maxMemory(),
        StorePlan.machineMemory(),
        runtime.availableProcessors(),
        ConnectionLimit.descriptors());
  }

  /**
   * Returns the bytes that child processes may take.
   *
   * @param store what the store takes beside the heap, in bytes
   */
  long room(long store) {
    return memory - heap - store - (BESIDE_MIB << 20);
  }

  /**
   * Says how the memory is divided; a second sentence warns if the parts do not fit, or if there is
   * no room for functions.
   *
   * @param store what the store takes beside the heap, in bytes
   */
  List<String> division(long store, ScriptSettings functions) {
    long left = mib(memory) - mib(heap) - mib(store) - mib(functions.memoryOfAll());
    List<String> said = new ArrayList<>();
    said.add(
        "Memory: %d MB heap, %d MB store, %d MB functions (%d child processes), %d MB for all else, of %d MB"
            .formatted(
                mib(heap),
                mib(store),
                mib(functions.memoryOfAll()),
                functions.children(),
                Math.max(0, left),
                mib(memory)));
    if (left < BESIDE_MIB) {
      said.add(
          "Heap, store and functions leave too little memory: "
              + BESIDE_MIB
              + " MB are needed beside them. Give less to them (-Xmx, store.cache-bytes,"
              + " scripts.heap-megabytes) or more to the server, or it may be killed.");
    }
    if (functions.children() == 0) {
      said.add(Scripts.NO_ROOM);
    }
    return said;
  }

  private static long mib(long bytes) {
    return bytes >> 20;
  }
}
