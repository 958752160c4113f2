package lectus.audit;

import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.audit.StoreAudit.AuditListener;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.RefusedSubspace;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.json.TupleWriter;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Operation;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The audit finds what a writer forgets of stored feeds. */
final class FeedsAuditTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final AuditedStore audited = new AuditedStore(store, db.transactions);
  private final FaultyStore faulty = new FaultyStore(store);
  private final DocumentWriter writer =
      new DocumentWriter(
          faulty.store(),
          new Catalogue(
              faulty.store(),
              new TransactionRunner(faulty.store(), TransactionLimits.DEFAULT),
              InstantSource.system()));
  private DatabaseHandle handle;
  private RevisionId first;

  @BeforeEach
  void aSoundDatabase() {
    new FeedCatalogue(db.catalogue, db.transactions, new FillingJobs(store.rootPrefix()))
        .put(db.name, FeedDefinition.ofChannels("f", "ch"));
    handle = db.catalogue.open(db.name);
    first = db.put("a", "{\"ch\":\"x\"}");
    assertThat(audited.findings()).isEmpty();
  }

  private void moving(Predicate<Operation> forgotten) {
    faulty.lose(forgotten);
    assertThat(writer.write(db.name, List.of(edit("a", first, "{\"ch\":\"y\"}"))).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);
  }

  private byte[] part(int part) {
    return RefusedSubspace.part(handle, db.catalogue.open(db.name).feeds().all().get(0), part)
        .toBytes();
  }

  private Predicate<Operation> is(String method, int part) {
    byte[] prefix = part(part);
    return operation -> operation.method().equals(method) && operation.isBelow(prefix);
  }

  @Test
  void an_entry_is_not_removed() {
    moving(is("clear", RefusedSubspace.ENTRIES));

    audited.assertFound(
        "database \"db\"", "The stored feed f", "an entry that the document a should not have");
  }

  @Test
  void no_entry_is_written() {
    moving(is("mutate", RefusedSubspace.ENTRIES));

    assertThat(audited.problems())
        .containsExactlyInAnyOrder(
            "database \"db\": The stored feed f lacks the document a",
            "database \"db\": The stored feed f has no entry where a has left it");
  }

  @Test
  void it_is_not_noted_where_a_document_left() {
    moving(is("mutate", RefusedSubspace.REMOVALS));

    audited.assertFound(
        "database \"db\"", "The stored feed f", "an entry that the document a should not have");
  }

  @Test
  void a_departure_that_an_earlier_version_wrote_gets_its_entry_of_any_channel() {
    moving(operation -> false);
    byte[] feed = part(RefusedSubspace.ENTRIES);
    List<KeyValue> before = rows(feed);
    byte[] ofAny = new TupleWriter(feed).string("").toBytes();
    db.transactions.run(
        tx -> {
          tx.clear(Range.startsWith(ofAny));
          return null;
        });
    assertThat(rows(feed)).hasSize(before.size() - 1);

    audited.assertFound("database \"db\"", "The stored feed f", "no entry where a has left it");
    List<String> done = new ArrayList<>();
    AuditReport report =
        new StoreRepair(store, Optional.empty())
            .run(AuditListener.SILENT, (place, repair) -> done.add(repair.sentence()));

    assertThat(report.findings()).isEmpty();
    assertThat(done).hasSize(1);
    assertThat(rows(feed)).isEqualTo(before);
  }

  private List<KeyValue> rows(byte[] prefix) {
    return db.transactions.read(tx -> tx.getRange(Range.startsWith(prefix)).asList().join());
  }
}
