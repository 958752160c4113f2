package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.ShardId;
import lectus.database.testing.TestLayout;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.document.testing.TestDatabase;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The auditor finds what faulty jobs and writers would leave behind. */
final class PlantedBugsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** More than an index or a feed has at once. */
  private static final int DOCUMENTS = 240;

  private final FaultyStore faulty = new FaultyStore(stores.fresh(), false);
  private final Store store = faulty.store();
  private final TestDatabase db = TestDatabase.open(store, "db");

  private List<String> findings() {
    return new StoreAudit(store, AuditListener.SILENT)
        .run().findings().stream().map(Object::toString).toList();
  }

  @ParameterizedTest
  @EnumSource(Kept.class)
  void a_task_that_skips_a_generation_is_found(Kept kept) {
    db.catalogue.create(db.name, TestLayout.options(false, 1));
    Kept.write(db, 0, 200);
    db.catalogue.reshard(db.name, 1);
    Kept.write(db, 200, DOCUMENTS);
    kept.define(db, 0);
    assertThat(kept.worker(db, 10).step()).isTrue();
    JobTasksSubspace planted = new JobTasksSubspace(db.catalogue.open(db.name));
    db.transactions.<Void>run(
        tx -> {
          planted.put(tx, 1, new ShardId("0"), TaskProgress.NONE.done());
          planted.put(tx, 1, new ShardId("1"), TaskProgress.NONE);
          return null;
        });

    assertThat(findings()).isNotEmpty().allMatch(it -> it.contains("lacks the document"));
    JobWorker worker = kept.worker(db, DOCUMENTS);
    while (!kept.isReadable(db)) {
      assertThat(worker.step()).isTrue();
    }
    assertThat(findings()).isNotEmpty().allMatch(it -> it.contains("lacks the document"));
    kept.remove(db);
  }

  @ParameterizedTest
  @EnumSource(Kept.class)
  void an_entry_that_is_not_removed_is_found(Kept kept) {
    db.catalogue.create(db.name, TestLayout.options(false, 1));
    Kept.write(db, 0, DOCUMENTS);
    kept.define(db, 0);
    assertThat(kept.worker(db, DOCUMENTS).step()).isTrue();
    DatabaseHandle handle = db.catalogue.open(db.name);
    RevisionId winner = db.winner("d3").leaf();

    faulty.lose(
        it ->
            it.method().equals("clear")
                && it.isBelow(DatabaseSubspace.DERIVED_ROWS.key(handle.prefix()).toBytes()));
    db.put("d3", winner, "{\"a\":\"moved\",\"ch\":\"moved\"}");
    faulty.lose(it -> false);
    assertThat(findings()).isNotEmpty().allMatch(it -> it.contains("d3"));
    kept.remove(db);
  }
}
