package lectus.document.index;

import static lectus.document.index.IndexMaintenanceTest.design;
import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lectus.audit.testing.SoundStore;
import lectus.database.AskedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.index.StoredIndex;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Design documents of versions without indexes get theirs when somebody first asks. */
final class FormerDesignsTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final FormerDesigns designs = onAnotherServer();

  private FormerDesigns onAnotherServer() {
    return new FormerDesigns(db.catalogue, db.transactions, store.rootPrefix());
  }

  /** Makes the design document one that an earlier version stored. */
  private RevisionId stored(String id, String json) {
    return unlisted(id, db.put(id, json));
  }

  private RevisionId stored(String id, RevisionId base, String json) {
    return unlisted(id, db.put(id, base, json));
  }

  private RevisionId unlisted(String id, RevisionId revision) {
    db.transactions.<Void>run(
        tx -> {
          DatabaseHandle current = db.catalogue.currentForWrites(tx, db.name);
          IndexListing listing = new IndexListing(tx, current, store.rootPrefix());
          listing.change(id, List.of());
          listing.finish();
          db.catalogue.moveVersion(tx, current);
          return null;
        });
    assertThat(indexes()).noneMatch(it -> it.definition().design().equals(id));
    return revision;
  }

  private List<StoredIndex> indexes() {
    return db.catalogue.open(db.name).indexes().all();
  }

  private void ask(FormerDesigns asked) {
    asked.makeIndexes(AskedDatabase.byServer(db.name));
  }

  @Test
  void they_are_made_once_by_whoever_is_asked_first() {
    db.put("d", "{\"a\":1}");
    db.put("_design/other", "{\"views\":{\"v\":{\"map\":\"function(doc) {}\"}}}");
    db.put("_design/i", design("a"));
    stored("_design/j", design("b"));
    stored("_design/k", design("a", "b"));

    ask(designs);
    List<Long> numbers = indexes().stream().map(StoredIndex::number).toList();
    assertThat(numbers).hasSize(3);
    assertThat(indexes()).allMatch(StoredIndex::isReadable);
    ask(designs);
    ask(onAnotherServer());
    assertThat(indexes().stream().map(StoredIndex::number).toList()).isEqualTo(numbers);
  }

  @Test
  void however_many_there_are() {
    List<Edit> others = new ArrayList<>();
    for (int i = 0; i < 2 * FormerDesigns.DESIGNS_AT_ONCE; i++) {
      others.add(edit("_design/o" + i, null, "{}"));
    }
    db.write(others);
    stored("_design/a", design("a"));
    stored("_design/o5", db.winner("_design/o5").leaf(), design("b"));
    stored("_design/z", design("c"));

    ask(designs);
    assertThat(indexes().stream().map(it -> it.definition().design()).toList())
        .containsExactly("_design/a", "_design/o5", "_design/z");
  }

  @Test
  void a_page_that_ends_with_the_last_one_is_the_last() {
    for (int i = 1; i < FormerDesigns.DESIGNS_AT_ONCE; i++) {
      db.put("_design/o" + i, "{}");
    }
    stored("_design/z", design("a"));

    ask(designs);
    assertThat(indexes()).hasSize(1);
  }

  @Test
  void they_are_made_later_if_the_database_takes_no_writes_yet() {
    stored("_design/i", design("a"));
    DatabaseHandle known = db.catalogue.open(db.name);
    byte[] key = DatabaseSubspace.CONFIG.key(known.prefix()).string("format").toBytes();
    byte[] current = db.transactions.read(tx -> Awaiting.await(tx.get(key)));

    change(tx -> tx.clear(key));
    ask(designs);
    assertThat(indexes()).isEmpty();
    change(tx -> tx.set(key, current));
    ask(designs);
    assertThat(indexes()).hasSize(1);
  }

  private void change(Consumer<Transaction> configuration) {
    db.transactions.<Void>run(
        tx -> {
          configuration.accept(tx);
          db.catalogue.moveVersion(tx, db.catalogue.current(tx, db.name));
          return null;
        });
  }

  @Test
  void one_that_is_gone_has_none() {
    RevisionId revision = stored("_design/i", design("a"));
    db.delete("_design/i", revision);

    ask(designs);
    assertThat(indexes()).isEmpty();
  }
}
