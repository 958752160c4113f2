package lectus.bench;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.EngineOptions;
import lectus.store.embedded.engine.StraightStore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * Measures durable updates of random documents by 64 clients in a store ten times as large as the
 * cache. The baseline does the same reads and writes straight on RocksDB in synced batches of 64.
 * An update reads the document's revision, replaces the 25 rows of its body and adds to one of 20
 * 000 counters.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 3)
@Measurement(iterations = 5, time = 3)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class StoreUpdateBenchmark {
  private static final int DOCUMENTS = 160_000;
  private static final int DOCUMENTS_A_TRANSACTION = 200;
  private static final int CLIENTS = 64;
  private static final int COUNTERS = 20_000;
  private static final int REVISION_OFFSET = 48;
  private static final int HEAD_BYTES = REVISION_OFFSET + Long.BYTES;
  private static final byte[] ONE = number(1);

  /** A tenth of the rows' 320 MB. */
  private static final EngineOptions SMALL = EngineOptions.defaults().withMemory(32 << 20, 8 << 20);

  private BenchFolder folder;
  private EmbeddedDatabase database;
  private StraightStore straight;

  @Setup(Level.Trial)
  public final void load() {
    folder = new BenchFolder();
    database =
        EmbeddedDatabase.open(folder.sub("embedded"), EmbeddedOptions.defaults().withEngine(SMALL));
    straight = new StraightStore(folder.sub("straight"), SMALL);
    for (int first = 0; first < DOCUMENTS; first += DOCUMENTS_A_TRANSACTION) {
      StraightStore.Changes changes = straight.changes();
      try (Transaction transaction = database.createTransaction()) {
        for (int i = first; i < first + DOCUMENTS_A_TRANSACTION; i++) {
          changes.put(revisionKey(i), number(1));
          transaction.set(revisionKey(i), number(1));
          for (int row = 0; row < BenchDocuments.ROWS; row++) {
            changes.put(rowKey(i, 1, row), BenchDocuments.VALUE);
            transaction.set(rowKey(i, 1, row), BenchDocuments.VALUE);
          }
        }
        transaction.commit().join();
      }
      changes.write();
    }
  }

  @TearDown(Level.Trial)
  public final void close() {
    database.close();
    straight.close();
    folder.close();
  }

  @Benchmark
  @Threads(CLIENTS)
  public final void embedded064() {
    int document = randomDocument();
    byte[] counter = counterKey();
    database.run(
        transaction -> {
          long revision = number(transaction.get(revisionKey(document)).join());
          transaction.clear(head(document, revision), head(document, revision + 1));
          for (int row = 0; row < BenchDocuments.ROWS; row++) {
            transaction.set(rowKey(document, revision + 1, row), BenchDocuments.VALUE);
          }
          transaction.set(revisionKey(document), number(revision + 1));
          transaction.mutate(MutationType.ADD, counter, ONE);
          return null;
        });
  }

  @Benchmark
  @OperationsPerInvocation(CLIENTS)
  public final void straight064() {
    StraightStore.Changes changes = straight.changes();
    for (int i = 0; i < CLIENTS; i++) {
      int document = randomDocument();
      byte[] counter = counterKey();
      long revision = number(straight.get(revisionKey(document)));
      changes.clear(head(document, revision), head(document, revision + 1));
      for (int row = 0; row < BenchDocuments.ROWS; row++) {
        changes.put(rowKey(document, revision + 1, row), BenchDocuments.VALUE);
      }
      changes.put(revisionKey(document), number(revision + 1));
      byte[] count = straight.get(counter);
      changes.put(counter, number(count == null ? 1 : number(count) + 1));
    }
    changes.write();
  }

  private static int randomDocument() {
    return ThreadLocalRandom.current().nextInt(DOCUMENTS);
  }

  private static byte[] counterKey() {
    byte[] key = BenchDocuments.key(ThreadLocalRandom.current().nextInt(COUNTERS), 0);
    key[0] = 'c';
    return key;
  }

  private static byte[] revisionKey(long document) {
    byte[] key = BenchDocuments.key(document, 0);
    key[0] = 'r';
    return key;
  }

  private static byte[] rowKey(long document, long revision, int row) {
    byte[] key = BenchDocuments.key(document, row);
    ByteBuffer.wrap(key).order(ByteOrder.BIG_ENDIAN).putLong(REVISION_OFFSET, revision);
    return key;
  }

  /** Returns the prefix of all rows of a revision. */
  private static byte[] head(long document, long revision) {
    return Arrays.copyOf(rowKey(document, revision, 0), HEAD_BYTES);
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static long number(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }
}
