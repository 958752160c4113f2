package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Range;
import java.util.ArrayList;
import java.util.List;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A document with unreadable rows does not affect documents written with it. */
class DamagedDocumentTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);

  @Test
  void edits_of_other_documents_are_made() {
    RevisionId base = db.put("damaged", "{}");
    damage();

    List<EditOutcome> outcomes =
        new ArrayList<>(
            db.write(
                List.of(
                    edit("a", null, "{}"),
                    edit("damaged", base, "{\"x\":1}"),
                    edit("b", null, "{}"),
                    edit("c", null, "{}"))));

    assertThat(error(outcomes.remove(1)))
        .isEqualTo(new LectusError.Internal("Stored data is damaged; the log says where."));
    assertThat(outcomes).hasSize(3).allMatch(EditOutcome.Written.class::isInstance);
    assertThat(db.leaves("c")).hasSize(1);
  }

  /** Replaces the value of each existing row of the revisions subspace with garbage. */
  private void damage() {
    store
        .database()
        .run(
            tx -> {
              byte[] revisions =
                  db.read(
                      (tr, handle) -> DatabaseSubspace.REVISIONS.key(handle.prefix()).toBytes());
              for (var row : tx.getRange(Range.startsWith(revisions))) {
                tx.set(row.getKey(), new byte[] {1, 2, 3});
              }
              return null;
            });
  }
}
