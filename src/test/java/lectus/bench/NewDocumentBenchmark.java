package lectus.bench;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import lectus.database.DatabaseHandle;
import lectus.document.edit.Edit;
import lectus.document.read.AllDocsSubspace;
import lectus.document.testing.TestDatabase;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
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
 * Measures how long it takes to find out that there is no document of an id: by the two keys that
 * an insert reads, and by the range of its edit branches, which the transaction has to conflict
 * with either way. Each is the first read after a commit. The database has 150 000 documents of 25
 * members.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class NewDocumentBenchmark {
  private static final int DOCUMENTS = 150_000;
  private static final int AT_ONCE = 500;
  private static final int MEMBERS = 25;

  private BenchFolder folder;
  private Store store;
  private DatabaseHandle db;

  @Setup(Level.Trial)
  public final void load() {
    folder = new BenchFolder();
    store = EmbeddedStores.open(folder.sub("store"));
    TestDatabase database = TestDatabase.create(store);
    for (int from = 0; from < DOCUMENTS; from += AT_ONCE) {
      List<Edit> edits = new ArrayList<>();
      for (int i = from; i < from + AT_ONCE; i++) {
        edits.add(TestDatabase.edit(id(i), null, body(i)));
      }
      database.write(edits);
    }
    db = database.read((tx, handle) -> handle);
  }

  /** So that the next transaction reads another state of the store, as it does beside writers. */
  @Setup(Level.Invocation)
  public final void commit() {
    store
        .database()
        .run(
            tx -> {
              tx.set(BenchDocuments.key(0, 0), BenchDocuments.VALUE);
              return null;
            });
  }

  private static String id(long number) {
    return "%016x".formatted(BenchDocuments.scattered(number));
  }

  private static String body(int number) {
    StringBuilder json = new StringBuilder("{\"n\":" + number);
    for (int member = 1; member < MEMBERS; member++) {
      json.append(",\"m").append(member).append("\":").append(member * 1.25);
    }
    return json.append('}').toString();
  }

  @TearDown(Level.Trial)
  public final void close() {
    store.close();
    folder.close();
  }

  @Benchmark
  public final Object byKeys() {
    String id = newId();
    try (Transaction tx = store.database().createTransaction()) {
      new RevisionsSubspace(db).conflictWithEdits(tx, id);
      return Awaiting.await(new AllDocsSubspace(db).presence(tx, id));
    }
  }

  @Benchmark
  public final Object byRange() {
    try (Transaction tx = store.database().createTransaction()) {
      return Awaiting.await(new RevisionsSubspace(db).winner(tx, newId()));
    }
  }

  private static String newId() {
    return id(DOCUMENTS + ThreadLocalRandom.current().nextInt(1 << 30));
  }
}
