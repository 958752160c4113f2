package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.derived.StoredIndex;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.Maintenance;
import lectus.json.MalformedTupleException;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whatever clients store, documents are written and indexes are built. */
final class IndexBoundsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final String DESIGN = "_design/i";
  private static final int FIELDS = 6;

  private final Store store = stores.fresh();

  private static String design() {
    return IndexMaintenanceTest.design(
        IntStream.range(0, FIELDS).mapToObj(i -> "f" + i).toArray(String[]::new));
  }

  private static String document(String value) {
    return IntStream.range(0, FIELDS)
        .mapToObj(i -> "\"f" + i + "\":" + value)
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static TestDatabase withDocuments(TestDatabase db, int count, String json) {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      edits.add(TestDatabase.edit("d" + i, null, json));
    }
    db.write(edits);
    return db;
  }

  private static StoredIndex index(TestDatabase db) {
    return db.catalogue.open(db.name).indexes().all().get(0);
  }

  @Test
  void a_document_is_written_whose_values_have_many_zero_bytes_in_an_index() {
    TestDatabase db = TestDatabase.create(store);
    db.put(DESIGN, design());
    String zeros = "[" + "0,".repeat(300) + "0]";

    db.put("\u0000".repeat(500), document(zeros));
    assertThat(index(db).isReadable()).isTrue();
  }

  @Test
  void an_index_is_built_whose_entries_do_not_fit_into_one_transaction() {
    String text = "\"" + "x".repeat(1_100) + "\"";
    TestDatabase db = withDocuments(TestDatabase.create(store), 1_900, document(text));
    db.put(DESIGN, design());

    JobWorker filling = worker(db, 4_000);
    for (int steps = 0; steps < 20 && filling.step(); steps++) {
      assertThat(index(db).definition().fields()).hasSize(FIELDS);
    }
    assertThat(index(db).isReadable()).isTrue();
  }

  /** Of 1 MB each, every one in a transaction of its own. */
  private TestDatabase withLargeDocuments(int count) {
    TestDatabase db = TestDatabase.create(store);
    String text = "x".repeat(1_000_000);
    for (int i = 0; i < count; i++) {
      db.put("d" + i, "{\"f0\":\"" + i + text + "\"}");
      db.delete("gone" + i, db.put("gone" + i, "{}"));
    }
    return db;
  }

  @Test
  void large_documents_that_one_transaction_can_read_are_in_an_index_at_once() {
    TestDatabase db = withLargeDocuments(5);
    db.put(DESIGN, IndexMaintenanceTest.design("f0"));
    assertThat(index(db).isReadable()).isTrue();
  }

  @Test
  void larger_ones_are_read_in_several_transactions() {
    TestDatabase db = withLargeDocuments(20);
    db.put(DESIGN, IndexMaintenanceTest.design("f0"));
    assertThat(index(db).isReadable()).isFalse();

    JobWorker filling = worker(db, 4_000);
    List<Long> done = new ArrayList<>();
    while (filling.step()) {
      store.tasks().running().forEach(it -> done.add(it.done()));
    }
    assertThat(index(db).isReadable()).isTrue();
    assertThat(done).hasSizeGreaterThanOrEqualTo(2).isSorted();
    assertThat(done.get(0)).isBetween(2L, 24L);
  }

  @Test
  void an_index_that_cannot_be_built_keeps_no_other_waiting() {
    List<TestDatabase> both = new ArrayList<>();
    for (String name : List.of("one", "other")) {
      both.add(withDocuments(TestDatabase.create(store, name), 300, document("1")));
    }
    both.forEach(db -> db.put(DESIGN, design()));
    both.sort((a, b) -> life(a).compareTo(life(b)));
    TestDatabase damaged = both.get(0);
    byte[] progress = progressKey(damaged);
    damaged.transactions.run(
        tx -> {
          tx.set(progress, new byte[] {1});
          return null;
        });

    JobWorker filling = worker(damaged, 64);
    for (int steps = 0; steps < 20 && !index(both.get(1)).isReadable(); steps++) {
      assertThat(filling.step()).isTrue();
    }
    assertThat(index(both.get(1)).isReadable()).isTrue();
    assertThatThrownBy(filling::step).isInstanceOf(MalformedTupleException.class);

    damaged.transactions.run(
        tx -> {
          tx.clear(progress);
          return null;
        });
    JobWorker other = worker(damaged, 64);
    while (other.step()) {
      assertThat(index(both.get(1)).isReadable()).isTrue();
    }
    assertThat(index(damaged).isReadable()).isTrue();
  }

  private static String life(TestDatabase db) {
    return db.catalogue.open(db.name).instance().hex();
  }

  private JobWorker worker(TestDatabase db, int most) {
    return new JobWorker(
        store,
        db.catalogue,
        Maintenance::rows,
        () -> false,
        new JobList(store, System::nanoTime),
        most);
  }

  private static byte[] progressKey(TestDatabase db) {
    DatabaseHandle handle = db.catalogue.open(db.name);
    return DatabaseSubspace.JOB_TASKS
        .key(handle.prefix())
        .integer(index(db).number())
        .string("0")
        .toBytes();
  }
}
