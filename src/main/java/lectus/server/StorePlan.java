package lectus.server;

import java.lang.management.ManagementFactory;

/**
 * The memory and files that the embedded store takes beside the heap.
 *
 * @param cache memtables, indexes and stored data in memory, in bytes
 * @param memtable the size of one, in bytes; three count against the cache
 * @param openFiles how many of the store's files may be open at a time
 */
public record StorePlan(long cache, long memtable, int openFiles) {
  /** Three memtables, and as much as one for reads. */
  static final int MEMTABLES_IN_CACHE = 4;

  private static final long MIB = 1L << 20;
  private static final long MIN_CACHE = 32 * MIB;

  /**
   * What a server under load takes beside heap and cache: 120 MB for classes, code and threads, 60
   * for what RocksDB holds of its own, 128 for a child process that runs functions, and the rest so
   * that programs stay in the cache of files.
   */
  private static final long BESIDE = 352 * MIB;

  private static final long GOOD_CACHE = 192 * MIB;
  private static final long MIN_MEMTABLE = 16 * MIB;
  private static final long MAX_MEMTABLE = 128 * MIB;

  /** Sixteenths of the cache for one memtable: three take little more than half of it. */
  private static final int SIXTEENTHS_TO_MEMTABLE = 3;

  private static final int SIXTEENTHS = 16;

  /** A quarter of the descriptors for files; connections may have half of them. */
  private static final int DESCRIPTORS_TO_FILES = 4;

  private static final int MIN_FILES = 64;
  private static final int MAX_FILES = 4_096;

  /**
   * Returns the plan for a heap on a machine: half of the heap in addition, at least 192 MB, but no
   * more than a third of what the heap leaves of the machine's memory, and no more than leaves 352
   * MB of it, unless that is less than 32 MB.
   *
   * @param heap its greatest size, in bytes
   * @param machine all memory of the machine, in bytes
   * @param descriptors that the process may have open at a time
   */
  public static StorePlan of(long heap, long machine, long descriptors) {
    long wanted = Math.max(GOOD_CACHE, heap / 2);
    long left = machine - heap;
    long most = Math.min(left / 3, left - BESIDE);
    long cache = Math.max(MIN_CACHE, Math.min(wanted, most));
    long files = Math.max(MIN_FILES, Math.min(MAX_FILES, descriptors / DESCRIPTORS_TO_FILES));
    return new StorePlan(cache, memtableOf(cache), (int) files);
  }

  /**
   * Returns this plan with an administrator's choices; 0: unchanged, or derived from the others.
   */
  public StorePlan with(long chosenCache, long chosenMemtable) {
    long newCache = chosenCache > 0 ? chosenCache : cache;
    return new StorePlan(
        newCache, chosenMemtable > 0 ? chosenMemtable : memtableOf(newCache), openFiles);
  }

  /** Whether the cache has room for memtables, and for more than them. */
  public boolean isPossible() {
    return memtable <= cache / MEMTABLES_IN_CACHE;
  }

  /** Returns the memory of this machine, or of the process's container, in bytes. */
  public static long machineMemory() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean known
        ? known.getTotalMemorySize()
        : Long.MAX_VALUE;
  }

  private static long memtableOf(long cache) {
    long share = cache / SIXTEENTHS * SIXTEENTHS_TO_MEMTABLE;
    return Math.min(MAX_MEMTABLE, Math.max(Math.min(MIN_MEMTABLE, cache / 4), share));
  }
}
