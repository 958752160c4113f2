package lectus.document.upgrade;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.upgrade.OldDatabase.HEX_OF_SIXTEEN;
import static lectus.document.upgrade.OldDatabase.SIXTEEN;
import static lectus.document.upgrade.OldDatabase.VALIDATES;
import static lectus.document.upgrade.OldDatabase.upgradeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.testing.BeforeShards;
import lectus.document.testing.TestDatabase;
import lectus.document.upgrade.FirstFormat.Revision;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.testing.LectusServer;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.ReachedFormat;
import lectus.store.testing.TestStores;
import lectus.task.TaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The result of upgrading databases of the first format, which are written byte by byte. */
final class StoreUpgradeTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final OldDatabase database = OldDatabase.create(stores.fresh());
  private final FirstFormat old = database.written;
  private final TestDatabase db = database.known;
  private final FaultyStore network = new FaultyStore(database.store);

  @Test
  void rows_of_the_first_format_are_as_they_were() {
    byte[] key = old.key(DatabaseSubspace.REVISIONS, "a", Revision.of("1-xy")).toBytes();
    int prefix = DatabaseSubspace.REVISIONS.key(database.handle().prefix()).length();

    assertThat(HexFormat.of().formatHex(key, prefix, key.length)).isEqualTo("02610027150102787900");
  }

  @Test
  void the_highest_bytes_win_afterwards() {
    String high = "1-ff00000000000000000000000000000a";
    old.lay("a", Revision.of("1-zz"), Revision.of(high), Revision.of("1-a"));
    assertThat(FirstFormat.oldWinner(Revision.of("1-zz"), Revision.of(high)).orElseThrow().text())
        .isEqualTo("1-zz");

    database.upgrade();

    assertThat(db.leaves("a")).containsExactly(high, "1-zz", "1-a");
    assertThat(db.allDocsRow("a").orElseThrow().winner()).isEqualTo(RevisionId.of(high));
    assertThat(db.changes()).hasSize(1);
    assertThat(db.changes().get(0).winner()).isEqualTo(RevisionId.of(high));
    assertThat(database.read("a", high))
        .contains("{\"_id\":\"a\",\"_rev\":\"" + high + "\",\"of\":");
    assertThat(database.read("a", "1-zz")).contains("\"of\":\"1-zz\"");
    db.audit(1);
  }

  @Test
  void it_is_a_task_that_tells_how_far_it_is() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-a"));
    List<TaskState> seen = new ArrayList<>();
    // The database is closed to former servers, rewritten, and then opened again.
    network.beforeNextCommit(
        () -> network.beforeNextCommit(() -> seen.addAll(network.store().tasks().running())));

    upgradeOf(network.store()).run();

    assertThat(seen).hasSize(1);
    assertThat(seen.get(0).type()).isEqualTo("database_upgrade");
    assertThat(seen.get(0).subject()).isEqualTo("db");
    assertThat(seen.get(0).done()).isEqualTo(2);
    assertThat(network.store().tasks().running()).isEmpty();
  }

  @Test
  void where_the_winner_stays_nobody_sees_a_difference() {
    old.lay("a", Revision.of("3-b").below("x", "y"), Revision.of("2-a"), Revision.tombstone("9-t"));
    old.lay("b", Revision.of("1-" + "0".repeat(32)));
    List<?> before = db.changes();

    database.upgrade();

    assertThat(db.changes()).isEqualTo(before);
    assertThat(db.leaves("a")).containsExactly("3-b", "2-a", "(9-t)");
    assertThat(db.winner("a").path().toString()).isEqualTo("[3-b, 2-x, 1-y]");
    db.put("a", RevisionId.of("3-b"), "{}");
    db.delete("a", RevisionId.of("2-a"));
    db.audit(2);
  }

  @Test
  void a_text_of_sixteen_bytes_and_its_digits_become_one_leaf() {
    old.lay("a", Revision.of("1-" + SIXTEEN), Revision.of("1-" + HEX_OF_SIXTEEN));
    old.lay("b", Revision.of("1-" + SIXTEEN));
    old.lay("c", Revision.of("2-z").below(SIXTEEN), Revision.of("1-" + HEX_OF_SIXTEEN));
    old.lay("d", Revision.of("2-z").below(HEX_OF_SIXTEEN), Revision.of("1-" + SIXTEEN));
    old.lay(
        "e", Revision.of("2-" + "f".repeat(32)).below(SIXTEEN), Revision.of("1-" + HEX_OF_SIXTEEN));
    old.lay("f", Revision.of("1-" + SIXTEEN), Revision.tombstone("1-" + HEX_OF_SIXTEEN));

    database.upgrade();

    assertThat(db.leaves("a")).containsExactly("1-" + HEX_OF_SIXTEEN);
    assertThat(database.read("a", "1-" + HEX_OF_SIXTEEN))
        .contains("\"of\":\"1-" + HEX_OF_SIXTEEN + "\"");
    assertThat(db.leaves("b")).containsExactly("1-" + HEX_OF_SIXTEEN);
    assertThat(database.read("b", "1-" + SIXTEEN)).contains("\"of\":\"1-" + SIXTEEN + "\"");
    assertThat(db.leaves("c")).containsExactly("2-z");
    assertThat(db.leaves("d")).containsExactly("2-z");
    assertThat(db.leaves("e")).containsExactly("2-" + "f".repeat(32));
    assertThat(db.leaves("f")).containsExactly("1-" + HEX_OF_SIXTEEN);
    assertThat(database.read("f", "1-" + HEX_OF_SIXTEEN)).contains("\"of\":\"1-" + SIXTEEN + "\"");
    assertThat(db.winner("a").winner().branchCount()).isEqualTo(1);
    assertThat(db.statistics().documents()).isEqualTo(6);
    db.audit(6);
  }

  @Test
  void documents_larger_than_a_transaction_take_several() {
    List<Revision> leaves = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      leaves.add(
          Revision.of("1-odd" + i)
              .with("{\"v\":\"" + "x".repeat(90_000) + "\",\"w\":\"" + "y".repeat(90_000) + "\"}"));
    }
    leaves.add(Revision.of("1-" + "f".repeat(32)));
    old.lay("a", leaves.toArray(Revision[]::new));
    old.lay("b", Revision.of("1-b"));
    int before = network.commits();

    upgradeOf(network.store()).run();

    assertThat(network.commits() - before).isGreaterThan(6);
    assertThat(db.leaves("a")).hasSize(21).startsWith("1-" + "f".repeat(32), "1-odd9");
    assertThat(database.read("a", "1-odd3")).contains("x".repeat(90_000));
    db.audit(2);
  }

  @Test
  void a_database_from_before_shards_is_upgraded() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));
    old.lay("b", Revision.of("1-b"));
    BeforeShards.lay(db.transactions, database.handle());
    OldDatabase reopened = database.reopened();

    reopened.upgrade();

    assertThat(reopened.known.leaves("a")).startsWith("1-ff00000000000000000000000000000a");
    reopened.known.audit(2);
  }

  @Test
  void design_documents_that_ask_for_validation_are_listed() {
    old.lay(
        "_design/loses", Revision.of("1-zz").with(VALIDATES), Revision.of("1-" + "f".repeat(32)));
    old.lay("_design/plain", Revision.of("1-a"));
    old.lay("_design/gone", new Revision("1-a", true, VALIDATES, List.of()));
    for (int i = 0; i < 120; i++) {
      old.lay("_design/q" + i, Revision.of("1-a"));
    }
    old.lay("_design/v", Revision.of("1-a").with(VALIDATES));
    old.lay("a", Revision.of("1-a").with(VALIDATES));

    database.upgrade();

    assertThat(database.handle().validator()).contains("_design/v");
    assertThat(error(db.write(edit("x", null, "{}"))))
        .isInstanceOf(LectusError.NotImplemented.class);
    db.audit(125);
  }

  @Test
  void what_is_current_costs_no_commit() {
    database.upgrade();
    TestDatabase later = TestDatabase.create(database.store, "later");
    int before = network.commits();

    upgradeOf(network.store()).run();

    assertThat(network.commits()).isEqualTo(before);
    assertThat(later.catalogue.open(later.name).isCurrent()).isTrue();
  }

  @Test
  void databases_that_have_indexes_say_so_to_versions_that_would_not_write_them() {
    TestDatabase plain = TestDatabase.create(database.store, "plain");
    TestDatabase indexed = TestDatabase.create(database.store, "indexed");
    indexed.put(
        "_design/i",
        "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\"a\":\"asc\"}},"
            + "\"options\":{\"def\":{\"fields\":[\"a\"]}}}}}");
    byte[] before = indexed.catalogue.open(indexed.name).version();
    asBeforeTheyDid(indexed);

    database.upgrade();

    assertThat(saysThatItHasIndexes(indexed)).isTrue();
    assertThat(saysThatItHasIndexes(plain)).isFalse();
    assertThat(indexed.catalogue.open(indexed.name).version()).isNotEqualTo(before);
    int commits = network.commits();
    upgradeOf(network.store()).run();
    assertThat(network.commits()).isEqualTo(commits);
  }

  @Test
  void a_store_that_takes_no_writes_need_not_be_upgraded_if_only_marks_are_missing() {
    TestDatabase indexed = TestDatabase.create(database.store, "indexed");
    asBeforeTheyDid(indexed);
    network.keepFailing(() -> FaultyStore.Fault.IO_ERROR);

    assertThatThrownBy(() -> upgradeOf(network.store()).run())
        .isInstanceOfAny(FDBException.class, LectusException.class);
    assertThat(upgradeOf(network.store()).isNeeded()).isFalse();
    network.heal();
    markReached(0);
    assertThat(upgradeOf(network.store()).isNeeded()).isTrue();
  }

  private void markReached(int format) {
    db.transactions.<Void>run(
        tx -> {
          new ReachedFormat(database.store.rootPrefix()).write(tx, format);
          return null;
        });
  }

  private void asBeforeTheyDid(TestDatabase indexed) {
    db.transactions.<Void>run(
        tx -> {
          tx.clear(indexesKey(indexed));
          new ReachedFormat(database.store.rootPrefix()).write(tx, DatabaseHandle.CURRENT_FORMAT);
          return null;
        });
  }

  private boolean saysThatItHasIndexes(TestDatabase some) {
    return db.transactions.<Boolean>read(tx -> tx.get(indexesKey(some)).join() != null);
  }

  private static byte[] indexesKey(TestDatabase some) {
    byte[] prefix = some.catalogue.open(some.name).prefix();
    return DatabaseSubspace.CONFIG.key(prefix).string("indexes").toBytes();
  }

  @Test
  void a_server_upgrades_before_it_serves() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));

    try (LectusServer server = LectusServer.start(database.store)) {
      assertThat(server.get("/db/a").member("_rev"))
          .isEqualTo("1-ff00000000000000000000000000000a");
      assertThat(server.get("/db/a?rev=1-zz").member("of")).isEqualTo("1-zz");
      assertThat(server.get("/db/_changes?style=all_docs").body()).contains("1-zz");
    }
    database.reopened().known.audit(1);
  }
}
