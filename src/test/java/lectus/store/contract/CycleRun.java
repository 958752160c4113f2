package lectus.store.contract;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * FoundationDB's Cycle workload: keys that form a ring, and transactions that swap neighbours. A
 * serializable store always keeps one ring of all of them, whatever runs concurrently.
 */
final class CycleRun {
  private final Database database;
  private final byte[] prefix;
  private final int nodes;

  CycleRun(Database database, byte[] prefix, int nodes) {
    this.database = database;
    this.prefix = prefix;
    this.nodes = nodes;
  }

  void setUp() {
    database.run(
        t -> {
          for (int node = 0; node < nodes; node++) {
            point(t, node, (node + 1) % nodes);
          }
          return null;
        });
  }

  /** Swaps on several threads while others read the whole ring. Returns true if it never broke. */
  boolean run(int threads, int swapsOfEach, long seed) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Boolean>> tasks =
          IntStream.range(0, threads)
              .<Callable<Boolean>>mapToObj(i -> () -> swap(swapsOfEach, new Random(seed + i)))
              .toList();
      boolean whole = true;
      for (Future<Boolean> task : pool.invokeAll(tasks)) {
        whole &= task.get();
      }
      return whole && isOneRing();
    } finally {
      pool.shutdown();
    }
  }

  /** Returns whether all nodes are on one ring, at one read version. */
  boolean isOneRing() {
    return database.read(this::isOneRing);
  }

  private boolean swap(int swaps, Random random) {
    boolean whole = true;
    for (int i = 0; i < swaps && whole; i++) {
      int start = random.nextInt(nodes);
      database.run(
          t -> {
            swapAfter(t, start);
            return null;
          });
      whole = random.nextInt(10) > 0 || isOneRing();
    }
    return whole;
  }

  private void swapAfter(Transaction t, int first) {
    int second = next(t, first);
    int third = next(t, second);
    int fourth = next(t, third);
    point(t, first, third);
    point(t, second, fourth);
    point(t, third, second);
  }

  private boolean isOneRing(ReadTransaction t) {
    List<KeyValue> rows = t.getRange(key(0), key(nodes)).asList().join();
    int node = 0;
    for (int steps = 1; steps <= nodes; steps++) {
      node = ByteBuffer.wrap(rows.get(node).getValue()).getInt();
      if (node == 0) {
        return steps == nodes && rows.size() == nodes;
      }
    }
    return false;
  }

  private int next(ReadTransaction t, int node) {
    return ByteBuffer.wrap(t.get(key(node)).join()).getInt();
  }

  private void point(Transaction t, int from, int to) {
    t.set(key(from), ByteBuffer.allocate(4).putInt(to).array());
  }

  private byte[] key(int node) {
    return ByteArrayUtil.join(prefix, ByteBuffer.allocate(4).putInt(node).array());
  }
}
