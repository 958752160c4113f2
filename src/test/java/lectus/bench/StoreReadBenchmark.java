package lectus.bench;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.StraightStore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures point reads and ranges of 20, 1 000 and 100 000 rows, each in its own transaction,
 * against plain gets and plain iterators. It runs right after the load, so reads are partly from
 * the memtable.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class StoreReadBenchmark {
  private static final int DOCUMENTS = 40_000;
  private static final int DOCUMENTS_A_TRANSACTION = 100;

  private BenchFolder folder;
  private EmbeddedDatabase database;
  private StraightStore straight;

  @Setup(Level.Trial)
  public final void load() {
    folder = new BenchFolder();
    database = EmbeddedDatabase.open(folder.sub("embedded"), EmbeddedOptions.defaults());
    straight = new StraightStore(folder.sub("straight"));
    for (int first = 0; first < DOCUMENTS; first += DOCUMENTS_A_TRANSACTION) {
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < DOCUMENTS_A_TRANSACTION; i++) {
        BenchDocuments.addKeys(first + i, keys);
      }
      straight.write(keys, BenchDocuments.VALUE);
      try (Transaction transaction = database.createTransaction()) {
        keys.forEach(key -> transaction.set(key, BenchDocuments.VALUE));
        transaction.commit().join();
      }
    }
  }

  @TearDown(Level.Trial)
  public final void close() {
    database.close();
    straight.close();
    folder.close();
  }

  @Benchmark
  public final byte[] getEmbedded() {
    byte[] key = BenchDocuments.key(randomDocument(1), 7);
    try (Transaction transaction = database.createTransaction()) {
      return transaction.get(key).join();
    }
  }

  @Benchmark
  public final byte[] getStraight() {
    return straight.get(BenchDocuments.key(randomDocument(1), 7));
  }

  @Benchmark
  public final long range000020Embedded() {
    return embedded(20, false);
  }

  @Benchmark
  public final long range000020ReverseEmbedded() {
    return embedded(20, true);
  }

  @Benchmark
  public final long range000020Straight() {
    return straight(20);
  }

  @Benchmark
  public final long range001000Embedded() {
    return embedded(1_000, false);
  }

  @Benchmark
  public final long range001000Straight() {
    return straight(1_000);
  }

  @Benchmark
  public final long range100000Embedded() {
    return embedded(100_000, false);
  }

  @Benchmark
  public final long range100000Straight() {
    return straight(100_000);
  }

  private long embedded(int count, boolean reverse) {
    int first = randomDocument(count);
    byte[] begin = BenchDocuments.key(first, 0);
    byte[] end = end(first, count);
    long bytes = 0;
    try (Transaction transaction = database.createTransaction()) {
      Iterator<KeyValue> rows =
          transaction
              .getRange(
                  begin, end, ReadTransaction.ROW_LIMIT_UNLIMITED, reverse, StreamingMode.WANT_ALL)
              .iterator();
      while (rows.hasNext()) {
        KeyValue row = rows.next();
        bytes += row.getKey().length + row.getValue().length;
      }
    }
    return bytes;
  }

  private long straight(int count) {
    int first = randomDocument(count);
    return straight.scan(BenchDocuments.key(first, 0), end(first, count));
  }

  private static byte[] end(int first, int count) {
    return BenchDocuments.key(first + count / BenchDocuments.ROWS, count % BenchDocuments.ROWS);
  }

  /** Returns a document that is followed by at least {@code count} rows. */
  private static int randomDocument(int count) {
    return ThreadLocalRandom.current().nextInt(DOCUMENTS - count / BenchDocuments.ROWS);
  }
}
