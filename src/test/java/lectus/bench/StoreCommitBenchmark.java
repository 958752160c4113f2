package lectus.bench;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.StraightStore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures durable transactions of 25 rows a second from 1, 16, 64 and 256 clients, each waiting
 * for its commit. The baseline writes the same rows straight to RocksDB, in synced batches of as
 * many transactions.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 5, time = 3)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class StoreCommitBenchmark {
  private final AtomicLong documents = new AtomicLong();
  private BenchFolder folder;
  private EmbeddedDatabase database;
  private StraightStore straight;

  @Setup
  public final void open() {
    folder = new BenchFolder();
    database = EmbeddedDatabase.open(folder.sub("embedded"), EmbeddedOptions.defaults());
    straight = new StraightStore(folder.sub("straight"));
  }

  @TearDown
  public final void close() {
    database.close();
    straight.close();
    folder.close();
  }

  @Benchmark
  @Threads(1)
  public final void embedded001() {
    commit();
  }

  @Benchmark
  @Threads(16)
  public final void embedded016() {
    commit();
  }

  @Benchmark
  @Threads(64)
  public final void embedded064() {
    commit();
  }

  @Benchmark
  @Threads(256)
  public final void embedded256() {
    commit();
  }

  @Benchmark
  public final void straight001() {
    write(1);
  }

  @Benchmark
  @OperationsPerInvocation(16)
  public final void straight016() {
    write(16);
  }

  @Benchmark
  @OperationsPerInvocation(64)
  public final void straight064() {
    write(64);
  }

  @Benchmark
  @OperationsPerInvocation(256)
  public final void straight256() {
    write(256);
  }

  private void commit() {
    long document = nextDocument();
    try (Transaction transaction = database.createTransaction()) {
      for (int row = 0; row < BenchDocuments.ROWS; row++) {
        transaction.set(BenchDocuments.key(document, row), BenchDocuments.VALUE);
      }
      transaction.commit().join();
    }
  }

  private void write(int transactions) {
    List<byte[]> keys = new ArrayList<>(transactions * BenchDocuments.ROWS);
    for (int i = 0; i < transactions; i++) {
      BenchDocuments.addKeys(nextDocument(), keys);
    }
    straight.write(keys, BenchDocuments.VALUE);
  }

  private long nextDocument() {
    return BenchDocuments.scattered(documents.incrementAndGet());
  }
}
