package lectus.bench;

import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.json.ChosenPaths;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.PackedLeaves;
import lectus.json.TupleWriter;
import lectus.revision.RevisionId;
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
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the read of one member of a document whose leaves lie in one row, and in rows of their
 * own, all in memory. It decides up to which size leaves lie in one row: the largest at which that
 * takes no more than 1.1 times as long.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class MemberReadBenchmark {
  private static final int ALL_BYTES = 4 << 20;
  private static final int AT_ONCE_BYTES = 1 << 20;
  private static final int BYTES_OF_A_LEAF = 19;

  /** The format of metadata with all leaves. */
  private static final int INLINE = 3;

  /** Of all leaves of a document together. */
  @Param({"4096", "8192", "16384", "32768"})
  private int bytes;

  private final List<byte[]> documents = new ArrayList<>();
  private BenchFolder folder;
  private Stored rows;
  private Stored inline;

  /** A database of documents, each under the same key as in the other. */
  private record Stored(Store store, TestDatabase db, DatabaseHandle handle) {
    static Stored in(BenchFolder folder, BodyLayout layout) {
      Store store = EmbeddedStores.open(folder.sub(layout.name()));
      TestDatabase db = TestDatabase.create(store, layout);
      return new Stored(store, db, db.read((tx, handle) -> handle));
    }

    byte[] key(byte[] document) {
      Tuple names = Tuple.fromBytes(document);
      return new DocumentsSubspace(handle)
          .revision(names.getString(0), false, RevisionId.of(names.getString(1)));
    }
  }

  @Setup(Level.Trial)
  public final void load() {
    folder = new BenchFolder();
    rows = Stored.in(folder, BodyLayout.RFC004);
    inline = Stored.in(folder, BodyLayout.INLINE);
    int count = ALL_BYTES / bytes;
    int atOnce = AT_ONCE_BYTES / bytes;
    for (int from = 0; from < count; from += atOnce) {
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < atOnce; i++) {
        edits.add(TestDatabase.edit("d%08d".formatted(from + i), null, json()));
      }
      List<byte[]> written = new ArrayList<>();
      for (EditOutcome outcome : rows.db.write(edits)) {
        EditOutcome.Written it = (EditOutcome.Written) outcome;
        written.add(Tuple.from(it.id(), it.revision().toString()).pack());
      }
      inline.store.database().run(tx -> putInline(tx, edits, written));
      documents.addAll(written);
    }
  }

  private Void putInline(Transaction tx, List<Edit> edits, List<byte[]> written) {
    for (int i = 0; i < written.size(); i++) {
      TupleWriter value = new TupleWriter(bytes).integer(INLINE);
      PackedLeaves.write(edits.get(i).body(), value);
      tx.set(inline.key(written.get(i)), value.toBytes());
    }
    return null;
  }

  private String json() {
    StringBuilder json = new StringBuilder("{\"n\":1");
    for (int i = 0; i < members(); i++) {
      json.append(",\"").append(member(i)).append("\":");
      json.append(i % 3 == 0 ? "\"text " + i % 100 + "\"" : i * 1.25);
    }
    return json.append('}').toString();
  }

  private int members() {
    return bytes / BYTES_OF_A_LEAF;
  }

  private static String member(int number) {
    return "m%04d".formatted(number);
  }

  @TearDown(Level.Trial)
  public final void close() {
    rows.store.close();
    inline.store.close();
    folder.close();
  }

  @Benchmark
  public final int inline() {
    return read(inline);
  }

  @Benchmark
  public final int rows() {
    return read(rows);
  }

  private int read(Stored from) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    byte[] key = from.key(documents.get(random.nextInt(documents.size())));
    byte[] path = new TupleWriter(8).string(member(random.nextInt(members()))).toBytes();
    JsonBuffer json = new JsonBuffer(64);
    try (Transaction tx = from.store.database().createTransaction()) {
      ChosenPaths chosen = ChosenPaths.of(List.of(path));
      Awaiting.await(StoredBody.read(tx.snapshot(), key, chosen))
          .appendTo(new JsonAssembler(json, false, chosen));
    }
    if (json.length() == 0) {
      throw new IllegalStateException("A member is missing");
    }
    return json.length();
  }
}
