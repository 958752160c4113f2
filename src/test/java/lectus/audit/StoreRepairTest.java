package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import lectus.audit.AuditReport.Finding;
import lectus.audit.StoreAudit.AuditListener;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.LectusServer;
import lectus.json.TupleWriter;
import lectus.store.EmbeddedStores;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left after a repair is sound, and nothing is gone but what could not be read. */
final class StoreRepairTest {
  private static final byte[] GARBLED = {1, 2, 3};

  /** What a database is; it cannot be made anew from documents. */
  private static final Set<String> GIVEN =
      Set.of("prefix 0", "prefix 10", "prefix 16", "prefix 21");

  @TempDir Path folder;

  @BeforeEach
  void only() {
    TestStores.onlyEmbedded();
  }

  private static List<String> problems(AuditReport report) {
    return report.findings().stream().map(Finding::toString).toList();
  }

  private static AuditReport repair(Store store, String name, List<String> done) {
    Optional<DatabaseName> database =
        Optional.of(name).filter(it -> !it.isEmpty()).map(DatabaseName::of);
    return new StoreRepair(store, database)
        .run(AuditListener.SILENT, (place, repair) -> done.add(place + ": " + repair.sentence()));
  }

  @Test
  void stray_rows_of_all_kinds_go_and_everything_else_stays() {
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        EveryKindOfRow.write(server);
      }
      TestDatabase db = TestDatabase.open(store, "all");
      EveryKindOfRow.complete(db);
      List<KeyValue> before = everything(db);
      db.transactions.run(
          tx -> {
            for (EveryKindOfRow.Row row : EveryKindOfRow.rows(store)) {
              tx.set(new TupleWriter(row.key()).integer(7).toBytes(), row.value());
            }
            return null;
          });
      assertThat(new StoreAudit(store, AuditListener.SILENT).run().isSound()).isFalse();

      assertThat(problems(repair(store, "", new ArrayList<>()))).isEmpty();

      List<KeyValue> after = everything(db);
      assertThat(before).filteredOn(row -> !after.contains(row)).isEmpty();
      assertThat(after).filteredOn(row -> !before.contains(row)).isEmpty();
      assertThat(problems(new StoreAudit(store, AuditListener.SILENT).run())).isEmpty();
    }
  }

  private static List<KeyValue> everything(TestDatabase db) {
    return db.transactions.read(
        tx -> tx.getRange(new Range(new byte[0], new byte[] {(byte) 0xff})).asList().join());
  }

  @Test
  void whatever_row_of_a_database_is_lost_or_garbled_a_repair_makes_it_sound() {
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        EveryKindOfRow.write(server);
      }
      TestDatabase db = TestDatabase.open(store, "all");
      List<String> left = new ArrayList<>();
      for (EveryKindOfRow.Row row : EveryKindOfRow.rows(store)) {
        String kind = row.kind().replaceFirst("^(\\S+ \\d+).*", "$1");
        if (row.database().isEmpty() || GIVEN.contains(kind)) {
          continue;
        }
        damage(db, row, false, left);
        damage(db, row, true, left);
      }
      assertThat(left).isEmpty();
      assertThat(problems(new StoreAudit(store, AuditListener.SILENT).run())).isEmpty();
    }
  }

  private static void damage(
      TestDatabase db, EveryKindOfRow.Row row, boolean isGarbled, List<String> left) {
    db.transactions.run(
        tx -> {
          if (isGarbled) {
            tx.set(row.key(), GARBLED);
          } else {
            tx.clear(row.key());
          }
          return null;
        });
    List<String> done = new ArrayList<>();
    List<String> problems = problems(repair(db.store, row.database(), done));
    if (!problems.isEmpty()) {
      left.add(row.kind() + (isGarbled ? " garbled: " : " lost: ") + problems + " after " + done);
    }
  }

  @Test
  void a_database_that_is_frozen_is_left_and_the_others_are_repaired() {
    try (Store store = EmbeddedStores.open(folder)) {
      List<TestDatabase> all =
          Stream.of("a", "b", "moved").map(name -> TestDatabase.create(store, name)).toList();
      for (TestDatabase db : all) {
        db.put("a", "{}");
        falsify(db);
      }
      all.get(0).catalogue.relocate(all.get(0).name, new Frozen("r", "http://there/a"));
      all.get(2)
          .catalogue
          .relocate(
              all.get(2).name,
              new Moved("r", "http://there/moved", new Secret("s"), OptionalLong.empty()));
      List<String> done = new ArrayList<>();
      AuditReport left = repair(store, "", done);
      assertThat(done).hasSize(1).allMatch(it -> it.startsWith("database \"b\": "));
      assertThat(problems(left)).hasSize(1).allMatch(it -> it.startsWith("database \"a\": "));
      assertThat(left.notes())
          .containsExactlyInAnyOrder(
              "Not repaired: database \"a\": The database moves to http://there/a and takes no"
                  + " writes until it is there.",
              "The database \"moved\" has moved to http://there/moved. What is left is not"
                  + " checked.");
    }
  }

  /** Makes one of its counters wrong. */
  private static void falsify(TestDatabase db) {
    byte[] counters =
        DatabaseSubspace.STATISTICS.key(db.catalogue.open(db.name).prefix()).toBytes();
    db.transactions.run(
        tx -> {
          KeyValue counter = tx.getRange(Range.startsWith(counters), 1).asList().join().get(0);
          DatabaseCounters.add(tx, counter.getKey(), 5);
          return null;
        });
  }

  @Test
  void a_revision_that_is_not_whole_goes_and_a_replicator_brings_it_again() {
    try (Store store = EmbeddedStores.open(folder)) {
      TestDatabase db = TestDatabase.create(store);
      db.replicate("a", "{\"v\":1}", "2-aa", "1-root");
      db.replicate("a", "{\"v\":2,\"w\":3}", "2-bb", "1-root");
      DatabaseHandle handle = db.catalogue.open(db.name);
      byte[] body = DatabaseSubspace.DOCUMENTS.key(handle.prefix()).string("a").toBytes();
      db.transactions.run(
          tx -> {
            List<KeyValue> rows = tx.getRange(Range.startsWith(body)).asList().join();
            tx.set(rows.get(rows.size() - 1).getKey(), GARBLED);
            return null;
          });

      List<String> done = new ArrayList<>();
      assertThat(problems(repair(store, db.name.text(), done))).isEmpty();

      assertThat(done).anySatisfy(it -> assertThat(it).contains("revisions 2-bb is removed"));
      assertThat(db.leaves("a")).containsExactly("2-aa");
      db.replicate("a", "{\"v\":2,\"w\":3}", "2-bb", "1-root");
      assertThat(db.leaves("a")).containsExactly("2-bb", "2-aa");
      assertThat(problems(new StoreAudit(store, AuditListener.SILENT).run())).isEmpty();
    }
  }

  @Test
  void a_counter_is_corrected_once_also_if_the_commit_is_not_answered() {
    try (Store store = EmbeddedStores.open(folder)) {
      TestDatabase db = TestDatabase.create(store);
      db.put("a", "{}");
      falsify(db);
      FaultyStore faulty = new FaultyStore(store, true);
      faulty.plan(FaultyStore.Fault.UNKNOWN_BUT_STORED);

      List<String> done = new ArrayList<>();
      assertThat(problems(repair(faulty.store(), db.name.text(), done))).isEmpty();

      assertThat(done).hasSize(1);
    }
  }
}
