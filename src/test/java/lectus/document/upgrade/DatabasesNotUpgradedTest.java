package lectus.document.upgrade;

import static lectus.document.upgrade.OldDatabase.HEX_OF_SIXTEEN;
import static lectus.document.upgrade.OldDatabase.SIXTEEN;
import static lectus.document.upgrade.OldDatabase.VALIDATES;
import static lectus.document.upgrade.OldDatabase.formatKey;
import static lectus.document.upgrade.OldDatabase.upgradeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.audit.AuditListener;
import lectus.audit.AuditReport;
import lectus.audit.StoreRepair;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.document.upgrade.FirstFormat.Revision;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import lectus.tuple.TupleWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Databases that have not been upgraded, and what they still accept. */
final class DatabasesNotUpgradedTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final OldDatabase database = OldDatabase.create(stores.fresh());
  private final FirstFormat old = database.written;
  private final TestDatabase db = database.known;

  @Test
  void the_auditor_says_that_a_database_is_not_upgraded_yet() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));

    Predicate<String> ofAnEarlierVersion =
        note -> note.contains("\"db\"") && note.contains("earlier version");

    AuditReport report = database.report();

    assertThat(report.isSound()).isTrue();
    assertThat(report.notLookedAt()).isEqualTo(1);
    assertThat(report.notes()).filteredOn(ofAnEarlierVersion).hasSize(1);
    database.upgrade();
    assertThat(database.report().notes()).noneMatch(ofAnEarlierVersion);
    assertThat(database.report().notLookedAt()).isZero();
  }

  @Test
  void a_damaged_database_does_not_keep_the_others_from_being_upgraded() {
    TestDatabase damaged = TestDatabase.create(database.store, "a-damaged");
    DatabaseHandle handle = damaged.catalogue.open(damaged.name);
    byte[] limit = DatabaseSubspace.CONFIG.key(handle.prefix()).string("revs_limit").toBytes();
    setRaw(limit, new byte[] {9});
    old.lay("a", Revision.of("1-zz"));

    database.upgrade();

    assertThat(db.leaves("a")).containsExactly("1-zz");
    setRaw(limit, new TupleWriter(8).integer(1).integer(7).toBytes());
    database.upgrade();
  }

  @Test
  void a_database_with_a_row_that_cannot_be_read_is_not_upgraded_before_it_is_repaired() {
    old.lay("a", Revision.of("1-zz"));
    old.lay("b", Revision.of("1-zz"));
    byte[] damaged = rowWithoutRevision("a");
    setRaw(damaged, new byte[] {9});

    upgradeOf(database.store).run();

    assertThat(database.handle().isCurrent()).isFalse();
    assertThat(database.report().notLookedAt()).isEqualTo(1);
    clear(damaged);
    database.upgrade();
    assertThat(db.leaves("b")).containsExactly("1-zz");
    db.audit(2);
  }

  @Test
  void a_repair_removes_an_edit_branch_that_cannot_be_read_and_upgrades_the_database() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-yy"));
    old.lay("b", Revision.of("1-zz"));
    byte[] damaged = old.key(DatabaseSubspace.REVISIONS, "a", Revision.of("1-zz")).toBytes();
    setRaw(damaged, new byte[] {9});
    upgradeOf(database.store).run();
    assertThat(database.handle().isCurrent()).isFalse();
    assertThat(database.report().findings())
        .singleElement()
        .satisfies(it -> assertThat(it.problem()).contains("An edit branch cannot be read"));
    List<String> done = new ArrayList<>();

    AuditReport report =
        new StoreRepair(database.store, Optional.of(db.name))
            .run(
                AuditListener.SILENT,
                (place, repair) -> done.add(place + ": " + repair.sentence()));

    assertThat(report.findings()).isEmpty();
    assertThat(report.notLookedAt()).isZero();
    assertThat(done).first().asString().contains("the row is removed");
    assertThat(done).anySatisfy(it -> assertThat(it).contains("document \"a\"", "1-yy wins"));
    assertThat(database.handle().isCurrent()).isTrue();
    assertThat(db.leaves("a")).containsExactly("1-yy");
    db.put("c", "{}");
    db.audit(3);
  }

  @Test
  void a_document_that_cannot_be_read_does_not_keep_the_others_from_being_rewritten() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-yy"));
    old.lay("b", Revision.of("1-" + SIXTEEN));
    byte[] damaged = old.key(DatabaseSubspace.REVISIONS, "a", Revision.of("1-yy")).toBytes();
    byte[] value = db.transactions.<byte[]>read(tx -> tx.get(damaged).join());
    setRaw(damaged, new byte[] {9});

    upgradeOf(database.store).run();

    assertThat(database.handle().isCurrent()).isFalse();
    assertThat(database.read("b", "1-" + HEX_OF_SIXTEEN)).contains("\"of\"");
    setRaw(damaged, value);
    database.upgrade();
    assertThat(db.leaves("a")).containsExactly("1-zz", "1-yy");
    db.audit(2);
  }

  @Test
  void a_database_that_is_not_upgraded_is_read_and_not_written_to() {
    old.lay("a", Revision.of("1-zz"));
    old.lay("b", Revision.of("1-" + "f".repeat(32)));
    byte[] damaged = rowWithoutRevision("a");
    setRaw(damaged, new byte[] {9});

    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.get("/db/b").status()).isEqualTo(200);
      assertThat(server.get("/db/_changes").status()).isEqualTo(200);
      assertTakesNoDocuments(server);
      assertThat(server.put("/db/_revs_limit", "7").status()).isEqualTo(200);
      assertThat(server.put("/db/_security", "{}").status()).isEqualTo(200);
    }

    clear(damaged);
    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.put("/db/c", "{}").status()).isEqualTo(201);
      assertThat(server.put("/db/_local/l", "{}").status()).isEqualTo(201);
    }
    OldDatabase reopened = database.reopened();
    assertThat(reopened.handle().configuration().revsLimit()).isEqualTo(7);
    reopened.known.audit(3);
  }

  @Test
  void writes_that_would_pass_a_validator_by_are_refused_where_validators_cannot_be_listed() {
    old.lay("_design/v", Revision.of("1-a").with(VALIDATES));
    old.lay("_design/w", Revision.of("1-a"));
    old.lay("b", Revision.of("1-" + "f".repeat(32)));
    byte[] damaged =
        DatabaseSubspace.ALL_DOCS.key(database.handle().prefix()).string("_design/w").toBytes();
    byte[] value = db.transactions.<byte[]>read(tx -> tx.get(damaged).join());
    setRaw(damaged, new byte[] {9});

    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.get("/db/_design/v").status()).isEqualTo(200);
      assertTakesNoDocuments(server);
    }

    setRaw(damaged, value);
    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.put("/db/c", "{}").status()).isEqualTo(501);
    }
    database.reopened().known.audit(3);
  }

  private static void assertTakesNoDocuments(LectusServer server) {
    String replicated = "{\"_id\":\"c\",\"_rev\":\"1-a\"}";
    List<Answer> answers =
        List.of(
            server.put("/db/c", "{}"),
            server.put("/db/_design/d", VALIDATES),
            server.post("/db", "{}"),
            server.delete("/db/b?rev=1-" + "f".repeat(32)),
            server.post("/db/_bulk_docs", "{\"docs\":[{\"_id\":\"c\"},{\"_id\":\"d\"}]}"),
            server.post("/db/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + replicated + "]}"),
            server.put("/db/_local/l", "{}"),
            server.delete("/db/_local/l"));
    for (Answer answer : answers) {
      assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
      assertThat(answer.body()).contains("service_unavailable", "format of an earlier version");
      assertThat(answer.header("retry-after")).isEqualTo("60");
    }
  }

  @Test
  void a_database_that_an_earlier_server_makes_behind_the_upgrade_is_upgraded_by_the_next_start() {
    database.upgrade();
    TestDatabase late = TestDatabase.create(database.store, "late");
    late.put("a", "{}");
    clear(formatKey(late.catalogue.open(late.name)));

    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.get("/late/a").status()).isEqualTo(200);
      assertThat(server.put("/late/b", "{}").status()).isEqualTo(503);
      assertThat(server.put("/late/b", "{}").status()).isEqualTo(503);
      assertThat(server.put("/db/b", "{}").status()).isEqualTo(201);
    }

    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.put("/late/b", "{}").status()).isEqualTo(201);
    }
    TestDatabase.open(database.store, "late").audit(2);
  }

  @Test
  void a_database_of_a_later_version_is_not_touched() {
    setRaw(formatKey(database.handle()), new TupleWriter(8).integer(1).integer(2).toBytes());
    TestDatabase server = TestDatabase.open(database.store, "db");

    assertThatThrownBy(() -> server.catalogue.open(DatabaseName.of("db")))
        .hasMessageContaining("newer version");
    setRaw(formatKey(database.handle()), new TupleWriter(8).integer(1).integer(1).toBytes());
  }

  /** Returns the key of an edit branch's row that names no revision. */
  private byte[] rowWithoutRevision(String id) {
    return DatabaseSubspace.REVISIONS
        .key(database.handle().prefix())
        .string(id)
        .integer(7)
        .toBytes();
  }

  private void clear(byte[] key) {
    db.transactions.run(
        tx -> {
          tx.clear(key);
          return null;
        });
  }

  private void setRaw(byte[] key, byte[] value) {
    db.transactions.run(
        tx -> {
          tx.set(key, value);
          return null;
        });
  }
}
