package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.derived.FeedDefinition;
import lectus.derived.StoredFeed;
import lectus.document.edit.Edit;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.Maintenance;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.json.TupleWriter;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Stored feeds of databases that had documents before, and servers of other versions. */
final class FeedCatalogueTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int DOCUMENTS = FillingJobs.MAX_AT_ONCE + 1;

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final FillingJobs jobs = new FillingJobs(store.rootPrefix());
  private final FeedCatalogue feeds = new FeedCatalogue(db.catalogue, db.transactions, jobs);

  private boolean define(String name) {
    return feeds.put(db.name, FeedDefinition.ofChannels(name, "ch"));
  }

  private void write() {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      edits.add(TestDatabase.edit("d" + i, null, "{\"ch\":\"a\"}"));
    }
    db.write(edits);
  }

  private DatabaseHandle handle() {
    return db.catalogue.open(db.name);
  }

  private StoredFeed feed(String name) {
    return handle().feeds().named(name).orElseThrow();
  }

  @Test
  void a_lost_row_of_numbers_gives_no_feed_the_number_of_another() {
    define("one");
    db.transactions.run(
        tx -> {
          tx.clear(DatabaseSubspace.NUMBERS.range(handle().prefix()));
          return null;
        });
    define("two");

    assertThat(handle().feeds().all()).extracting(StoredFeed::number).containsExactly(1L, 2L);
  }

  private JobWorker worker() {
    return new JobWorker(
        store,
        db.catalogue,
        Maintenance::rows,
        () -> false,
        new JobList(store, System::nanoTime),
        50);
  }

  private void work(JobWorker worker) {
    while (worker.step()) {
      assertThat(findings()).isEmpty();
    }
  }

  private List<String> findings() {
    return new StoreAudit(store, AuditListener.SILENT)
        .run().findings().stream().map(Object::toString).toList();
  }

  private int entries(String name) {
    return db.read(
        (tx, it) ->
            tx.getRange(new FeedEntriesSubspace(it, feed(name)).range()).asList().join().size());
  }

  @Test
  void a_number_is_given_once() {
    define("other");
    define("f");
    StoredFeed former = feed("f");
    feeds.delete(db.name, "f");
    feeds.delete(db.name, "other");
    define("f");

    assertThat(feed("f").definition()).isEqualTo(former.definition());
    assertThat(feed("f").number()).isGreaterThan(former.number());
    assertThat(handle().feeds().current(former)).isEmpty();
  }

  /** Of each the histories take 1.7 MB, and the bodies next to nothing. */
  @Test
  void a_page_ends_when_it_has_read_many_branches() {
    int documents = 8;
    for (int document = 0; document < documents; document++) {
      List<Edit> leaves = new ArrayList<>();
      for (int leaf = 0; leaf < 100; leaf++) {
        String[] path = new String[1_000];
        for (int i = 0; i < path.length; i++) {
          path[i] = path.length - i + "-%032x".formatted(leaf * path.length + i);
        }
        leaves.add(TestDatabase.replicated("d" + document, "{\"ch\":\"a\"}", path));
      }
      db.write(leaves);
    }
    StoredFeed feed =
        new StoredFeed(1, FeedDefinition.ofChannels("f", "ch"), false, StoredFeed.Removal.NONE);

    List<ChangeEntry> entries = db.changes();
    int first = db.read((tx, it) -> new FeedRows(tx, it, feed).of(entries).size());
    assertThat(entries).hasSize(documents);
    assertThat(first).isBetween(1, documents - 1);
    assertThat(define("f")).isTrue();
    work(worker());
    assertThat(entries("f")).isEqualTo(documents);
  }

  @Test
  void a_job_fills_a_feed_page_by_page() {
    write();
    assertThat(define("f")).isTrue();
    assertThat(feed("f").isReadable()).isFalse();

    work(worker());

    assertThat(feed("f").isReadable()).isTrue();
    assertThat(entries("f")).isEqualTo(DOCUMENTS);
  }

  @Test
  void documents_that_are_purged_or_move_while_a_feed_is_filled_are_not_left_in_it() {
    write();
    define("f");
    JobWorker worker = worker();
    for (int page = 0; page < 3; page++) {
      assertThat(worker.step()).isTrue();
      for (int i = page; i < DOCUMENTS; i += 40) {
        db.write(Purging.of("d" + i, db.winner("d" + i).leaf()));
      }
      db.put("d" + (page + 10), db.winner("d" + (page + 10)).leaf(), "{\"ch\":\"b\"}");
      assertThat(findings()).isEmpty();
    }

    work(worker);

    assertThat(feed("f").isReadable()).isTrue();
  }

  @Test
  void deleting_a_feed_ends_its_job() {
    write();
    define("f");
    JobWorker worker = worker();
    assertThat(worker.step()).isTrue();

    feeds.delete(db.name, "f");

    work(worker);
    assertThat(store.tasks().running()).isEmpty();
  }

  @Test
  void a_running_server_neither_reads_nor_writes_a_database_with_a_field_of_a_later_version() {
    db.put("x", "{}");
    byte[] key = DatabaseSubspace.CONFIG.key(handle().prefix()).string("later").toBytes();
    db.transactions.<Void>run(
        tx -> {
          DatabaseHandle known = db.catalogue.currentForWrites(tx, db.name);
          tx.set(key, new TupleWriter(8).integer(1).toBytes());
          db.catalogue.moveVersion(tx, known);
          return null;
        });

    assertThatThrownBy(() -> db.put("y", "{}"))
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining("newer version of Lectus");
    assertThatThrownBy(this::handle).isInstanceOf(NewerFormatException.class);

    db.transactions.<Void>run(
        tx -> {
          tx.clear(key);
          return null;
        });
  }

  private void writeLarge(int count) {
    String text = "x".repeat(1_000_000);
    for (int i = 0; i < count; i++) {
      db.put("d" + i, "{\"text\":\"" + text + i + "\"}");
    }
  }

  private void defineByText(String name) {
    JsonObject selector = new JsonObject(Map.of("text", new JsonString("none")));
    feeds.put(db.name, FeedDefinition.ofSelector(name, selector));
  }

  @Test
  void large_documents_that_one_transaction_can_read_are_in_a_feed_at_once() {
    writeLarge(5);
    defineByText("f");
    assertThat(feed("f").isReadable()).isTrue();
  }

  @Test
  void larger_ones_are_read_in_several_transactions() {
    writeLarge(20);
    defineByText("f");
    assertThat(feed("f").isReadable()).isFalse();

    JobWorker worker =
        new JobWorker(
            store,
            db.catalogue,
            Maintenance::rows,
            () -> false,
            new JobList(store, System::nanoTime));
    assertThat(worker.step()).isTrue();
    long done = store.tasks().running().get(0).done();
    assertThat(done).isBetween(2L, 16L);
    work(worker);
    assertThat(feed("f").isReadable()).isTrue();
  }
}
