package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.TupleWriter;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of indexes. */
final class GoldenIndexRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final JsonObject FILTER =
      (JsonObject) JsonValue.parse("{\"b\":{\"$gt\":1}}".getBytes(StandardCharsets.UTF_8));

  private final Store store = stores.fresh();
  private final TestDatabase test = TestDatabase.create(store);
  private final DatabaseHandle db = test.catalogue.open(test.name);

  private static StoredIndex index(long number, boolean partitioned) {
    IndexDefinition definition =
        new IndexDefinition(
            "_design/d",
            "n",
            List.of("a", "b.c"),
            "asc",
            partitioned ? Optional.of(FILTER) : Optional.empty(),
            partitioned);
    return new StoredIndex(number, definition, !partitioned);
  }

  private WrittenRows written(DatabaseSubspace subspace, Consumer<Transaction> encoder) {
    return WrittenRows.of(store, subspace.range(db.prefix()), encoder);
  }

  @Test
  void entries() {
    StoredIndex plain = index(1, false);
    StoredIndex partitioned = index(2, true);
    RevisionId winner = RevisionId.of("2-00112233445566778899aabbccddeeff");
    byte[] sortKey = {1, 0, 4};
    List<byte[]> values =
        List.of(new TupleWriter(4).nil().toBytes(), new TupleWriter(4).string("x").toBytes());
    WrittenRows written =
        written(
            DatabaseSubspace.DERIVED_ROWS,
            tx -> {
              for (StoredIndex index : List.of(plain, partitioned)) {
                IndexEntriesSubspace entries = new IndexEntriesSubspace(db, index);
                tx.set(entries.key(sortKey, "p:x"), IndexEntriesSubspace.valueOf(winner, values));
              }
              tx.set(
                  new IndexEntriesSubspace(db, plain).key(sortKey, "y"),
                  IndexEntriesSubspace.valueOf(winner, List.of(new byte[0], new byte[300])));
            });
    GoldenRows golden = GoldenRows.of("IndexEntriesSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    IndexEntriesSubspace.Entry entry =
        new IndexEntriesSubspace(db, partitioned).decode(golden.row("of an index of partitions"));
    assertThat(entry.docId()).isEqualTo("p:x");
    assertThat(entry.winner()).isEqualTo(winner);
    assertThat(entry.values()).containsExactly(values.get(0), values.get(1));
    assertThat(
            new IndexEntriesSubspace(db, plain)
                .decode(golden.row("with values that are elsewhere"))
                .values())
        .containsExactly(new byte[0], new byte[0]);
  }
}
