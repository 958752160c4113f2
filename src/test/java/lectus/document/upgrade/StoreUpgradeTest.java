package lectus.document.upgrade;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import lectus.audit.AuditListener;
import lectus.audit.AuditReport;
import lectus.audit.StoreAudit;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.CreationOptions;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.NameRange;
import lectus.database.testing.BeforeShards;
import lectus.document.read.DocumentReader;
import lectus.document.read.HotDocuments;
import lectus.document.read.ReadOptions;
import lectus.document.testing.TestDatabase;
import lectus.document.upgrade.FirstFormat.Revision;
import lectus.error.LectusError;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.server.StartException;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import lectus.tuple.TupleWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Databases of the first format, written byte by byte, brought up to date. */
class StoreUpgradeTest {
  private static final String HEX_OF_SIXTEEN = "30313233343536373839616263646566";
  private static final String SIXTEEN = "0123456789abcdef";
  private static final String VALIDATES = "{\"validate_doc_update\":\"function () {}\"}";

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final FaultyStore network = new FaultyStore(store);
  private FirstFormat old;

  /** As it is known to a server that starts after the old one has written. */
  private TestDatabase db;

  @BeforeEach
  void create() {
    old = new FirstFormat(TestDatabase.create(store));
    db = TestDatabase.open(store, "db");
  }

  private static StoreUpgrade upgrade(Store store) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
    return new StoreUpgrade(store, catalogue, transactions);
  }

  private void upgrade() {
    upgrade(store).run();
    assertThat(handle().isCurrent()).isTrue();
  }

  private DatabaseHandle handle() {
    return db.catalogue.open(db.name);
  }

  /** Runs it when documents have been read and written, after the commit that begins an upgrade. */
  private void beforeTheRewriting(Runnable interference) {
    network.beforeNextCommit(() -> network.beforeNextCommit(interference));
  }

  @Test
  void rows_of_the_first_format_are_as_they_were() {
    byte[] key = old.key(DatabaseSubspace.REVISIONS, "a", Revision.of("1-xy")).toBytes();
    int prefix = DatabaseSubspace.REVISIONS.key(handle().prefix()).length();

    assertThat(HexFormat.of().formatHex(key, prefix, key.length)).isEqualTo("02610027150102787900");
  }

  @Test
  void the_highest_bytes_win_afterwards() {
    String high = "1-ff00000000000000000000000000000a";
    old.lay("a", Revision.of("1-zz"), Revision.of(high), Revision.of("1-a"));
    assertThat(FirstFormat.oldWinner(Revision.of("1-zz"), Revision.of(high)).orElseThrow().text())
        .isEqualTo("1-zz");

    upgrade();

    assertThat(db.leaves("a")).containsExactly(high, "1-zz", "1-a");
    assertThat(db.allDocsRow("a").orElseThrow().winner()).isEqualTo(RevisionId.of(high));
    assertThat(db.changes()).hasSize(1);
    assertThat(db.changes().get(0).winner()).isEqualTo(RevisionId.of(high));
    assertThat(read("a", high)).contains("{\"_id\":\"a\",\"_rev\":\"" + high + "\",\"of\":");
    assertThat(read("a", "1-zz")).contains("\"of\":\"1-zz\"");
    db.audit(1);
  }

  @Test
  void where_the_winner_stays_nobody_sees_a_difference() {
    old.lay("a", Revision.of("3-b").below("x", "y"), Revision.of("2-a"), Revision.tombstone("9-t"));
    old.lay("b", Revision.of("1-" + "0".repeat(32)));
    List<?> before = db.changes();

    upgrade();

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

    upgrade();

    assertThat(db.leaves("a")).containsExactly("1-" + HEX_OF_SIXTEEN);
    assertThat(read("a", "1-" + HEX_OF_SIXTEEN)).contains("\"of\":\"1-" + HEX_OF_SIXTEEN + "\"");
    assertThat(db.leaves("b")).containsExactly("1-" + HEX_OF_SIXTEEN);
    assertThat(read("b", "1-" + SIXTEEN)).contains("\"of\":\"1-" + SIXTEEN + "\"");
    assertThat(db.leaves("c")).containsExactly("2-z");
    assertThat(db.leaves("d")).containsExactly("2-z");
    assertThat(db.leaves("e")).containsExactly("2-" + "f".repeat(32));
    assertThat(db.leaves("f")).containsExactly("1-" + HEX_OF_SIXTEEN);
    assertThat(read("f", "1-" + HEX_OF_SIXTEEN)).contains("\"of\":\"1-" + SIXTEEN + "\"");
    assertThat(db.winner("a").winner().branchCount()).isEqualTo(1);
    assertThat(db.statistics().documents()).isEqualTo(6);
    db.audit(6);
  }

  static LongStream seeds() {
    return LongStream.concat(
        LongStream.range(0, 10), LongStream.of(System.nanoTime() & 0xffff_ffffL));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void winners_are_those_of_a_model_of_couchdb_wherever_it_is_killed(long seed) {
    Map<String, List<Revision>> documents = layRandomly(new Random(seed));

    int kills = killUntilItIsDone(new Random(seed));

    assertThat(kills).isPositive();
    documents.forEach(
        (id, leaves) -> {
          List<String> expected = new ArrayList<>(leaves.stream().map(Revision::text).toList());
          expected.sort(couchDbOrder(leaves));
          assertThat(db.branches(id).stream().map(EditBranch::leaf))
              .containsExactlyElementsOf(expected.stream().map(RevisionId::of).toList());
        });
    db.audit(documents.size());
  }

  /** Commits fail for good one after the other, each start going on from what there is. */
  private int killUntilItIsDone(Random random) {
    for (int kills = 0; ; kills++) {
      for (int commits = 0; commits < random.nextInt(1 + kills); commits++) {
        network.plan(Fault.NONE);
      }
      network.plan(random.nextBoolean() ? Fault.IO_ERROR : Fault.NOT_COMMITTED, Fault.IO_ERROR);
      try {
        upgrade(network.store()).run();
        network.heal();
        return kills;
      } catch (FDBException killed) {
        network.heal();
        assertThat(report().findings()).isEmpty();
      }
    }
  }

  private static Comparator<String> couchDbOrder(List<Revision> leaves) {
    Map<String, Revision> byText = new LinkedHashMap<>();
    leaves.forEach(it -> byText.put(it.text(), it));
    return Comparator.comparing((String it) -> byText.get(it).deleted())
        .thenComparing(it -> -byText.get(it).position())
        .thenComparing(
            it -> FirstFormat.bytes(byText.get(it).hash()), (a, b) -> Arrays.compareUnsigned(b, a));
  }

  private Map<String, List<Revision>> layRandomly(Random random) {
    Map<String, List<Revision>> documents = new LinkedHashMap<>();
    for (int document = 0; document < 220; document++) {
      Map<String, Revision> leaves = new LinkedHashMap<>();
      for (int leaf = random.nextInt(4); leaf >= 0; leaf--) {
        String text = 1 + random.nextInt(2) + "-" + randomHash(random);
        leaves.put(text, random.nextInt(4) == 0 ? Revision.tombstone(text) : Revision.of(text));
      }
      String id = "doc" + document;
      documents.put(id, List.copyOf(leaves.values()));
      old.lay(id, leaves.values().toArray(Revision[]::new));
    }
    return documents;
  }

  private static String randomHash(Random random) {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    String hex = HexFormat.of().formatHex(bytes);
    return switch (random.nextInt(3)) {
      case 0 -> hex;
      case 1 -> hex.substring(0, 1 + random.nextInt(15));
      default -> "\u00fc\0" + hex.substring(0, 20);
    };
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

    upgrade(network.store()).run();

    assertThat(network.commits() - before).isGreaterThan(6);
    assertThat(db.leaves("a")).hasSize(21).startsWith("1-" + "f".repeat(32), "1-odd9");
    assertThat(read("a", "1-odd3")).contains("x".repeat(90_000));
    db.audit(2);
  }

  /** One in a cluster that is replaced server by server, so that old ones run on meanwhile. */
  @Test
  void a_server_of_the_first_version_writes_nothing_once_the_upgrade_has_begun() {
    old.lay("a", Revision.of("1-zz"));
    Transaction late = store.database().createTransaction();
    db.catalogue.guard(late, db.catalogue.current(late, db.name));
    old.lay(late, "b", Revision.of("1-zz"));
    network.plan(Fault.NONE, Fault.IO_ERROR);

    assertThatThrownBy(upgrade(network.store())::run).isInstanceOf(FDBException.class);

    assertThat(handle().isCurrent()).isFalse();
    byte[] unknownField = formatKey(handle());
    assertThat(db.transactions.<byte[]>read(tx -> tx.get(unknownField).join())).isNotNull();
    assertThatThrownBy(() -> late.commit().join()).hasCauseInstanceOf(FDBException.class);
    late.close();
    upgrade();
    db.audit(1);
  }

  @Test
  void two_servers_may_start_at_once() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));
    old.lay("_design/v", Revision.of("1-zz").with(VALIDATES));
    beforeTheRewriting(upgrade(store)::run);

    upgrade(network.store()).run();

    assertThat(db.leaves("a")).containsExactly("1-ff00000000000000000000000000000a", "1-zz");
    assertThat(handle().validator()).contains("_design/v");
    db.audit(2);
  }

  @Test
  void a_database_that_is_deleted_meanwhile_is_left_alone() {
    old.lay("a", Revision.of("1-zz"));
    beforeTheRewriting(() -> db.catalogue.delete(db.name));

    upgrade(network.store()).run();

    assertThat(db.catalogue.names(NameRange.ALL).names()).isEmpty();
  }

  @Test
  void a_database_that_is_created_again_meanwhile_is_left_alone() {
    old.lay("a", Revision.of("1-zz"));
    beforeTheRewriting(
        () -> {
          db.catalogue.delete(db.name);
          db.catalogue.create(db.name, CreationOptions.DEFAULT);
          db.put("new", "{}");
        });

    upgrade(network.store()).run();

    assertThat(db.leaves("a")).isEmpty();
    db.audit(1);
  }

  @Test
  void a_database_that_is_resharded_meanwhile_has_its_change_in_a_new_shard() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));
    beforeTheRewriting(() -> db.catalogue.reshard(db.name, 4));

    upgrade(network.store()).run();

    assertThat(handle().topology().generations()).hasSize(2);
    db.audit(1);
  }

  @Test
  void a_database_from_before_shards_is_upgraded() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));
    old.lay("b", Revision.of("1-b"));
    BeforeShards.lay(db.transactions, handle());
    db = TestDatabase.open(store, "db");

    upgrade();

    assertThat(db.leaves("a")).startsWith("1-ff00000000000000000000000000000a");
    db.audit(2);
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

    upgrade();

    assertThat(handle().validator()).contains("_design/v");
    assertThat(error(db.write(edit("x", null, "{}"))))
        .isInstanceOf(LectusError.NotImplemented.class);
    db.audit(125);
  }

  @Test
  void the_auditor_says_that_a_database_is_not_upgraded_yet() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));

    AuditReport report = report();

    assertThat(report.isSound()).isTrue();
    assertThat(report.notLookedAt()).isEqualTo(1);
    assertThat(report.notes()).singleElement().asString().contains("\"db\"", "earlier version");
    upgrade();
    assertThat(report().notes()).isEmpty();
    assertThat(report().notLookedAt()).isZero();
  }

  private AuditReport report() {
    return new StoreAudit(store, AuditListener.SILENT).run();
  }

  @Test
  void what_is_current_costs_no_commit() {
    upgrade();
    TestDatabase later = TestDatabase.create(store, "later");
    int before = network.commits();

    upgrade(network.store()).run();

    assertThat(network.commits()).isEqualTo(before);
    assertThat(later.catalogue.open(later.name).isCurrent()).isTrue();
  }

  @Test
  void a_damaged_database_does_not_keep_the_others_from_being_upgraded() {
    TestDatabase damaged = TestDatabase.create(store, "a-damaged");
    DatabaseHandle handle = damaged.catalogue.open(damaged.name);
    byte[] limit = DatabaseSubspace.CONFIG.key(handle.prefix()).string("revs_limit").toBytes();
    setRaw(limit, new byte[] {9});
    old.lay("a", Revision.of("1-zz"));

    upgrade();

    assertThat(db.leaves("a")).containsExactly("1-zz");
    setRaw(limit, new TupleWriter(8).integer(1).integer(7).toBytes());
    upgrade();
  }

  @Test
  void a_database_with_a_row_that_cannot_be_read_is_not_upgraded_before_it_is_repaired() {
    old.lay("a", Revision.of("1-zz"));
    old.lay("b", Revision.of("1-zz"));
    byte[] damaged = rowWithoutRevision("a");
    setRaw(damaged, new byte[] {9});

    upgrade(store).run();

    assertThat(handle().isCurrent()).isFalse();
    assertThat(report().notLookedAt()).isEqualTo(1);
    clear(damaged);
    upgrade();
    assertThat(db.leaves("b")).containsExactly("1-zz");
    db.audit(2);
  }

  @Test
  void a_document_that_cannot_be_read_does_not_keep_the_others_from_being_rewritten() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-yy"));
    old.lay("b", Revision.of("1-" + SIXTEEN));
    byte[] damaged = old.key(DatabaseSubspace.REVISIONS, "a", Revision.of("1-yy")).toBytes();
    byte[] value = db.transactions.<byte[]>read(tx -> tx.get(damaged).join());
    setRaw(damaged, new byte[] {9});

    upgrade(store).run();

    assertThat(handle().isCurrent()).isFalse();
    assertThat(read("b", "1-" + HEX_OF_SIXTEEN)).contains("\"of\"");
    setRaw(damaged, value);
    upgrade();
    assertThat(db.leaves("a")).containsExactly("1-zz", "1-yy");
    db.audit(2);
  }

  @Test
  void a_database_that_is_not_upgraded_is_read_and_not_written_to() {
    old.lay("a", Revision.of("1-zz"));
    old.lay("b", Revision.of("1-" + "f".repeat(32)));
    byte[] damaged = rowWithoutRevision("a");
    setRaw(damaged, new byte[] {9});

    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.get("/db/b").status()).isEqualTo(200);
      assertThat(server.get("/db/_changes").status()).isEqualTo(200);
      assertTakesNoDocuments(server);
      assertThat(server.put("/db/_revs_limit", "7").status()).isEqualTo(200);
      assertThat(server.put("/db/_security", "{}").status()).isEqualTo(200);
    }

    clear(damaged);
    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.put("/db/c", "{}").status()).isEqualTo(201);
      assertThat(server.put("/db/_local/l", "{}").status()).isEqualTo(201);
    }
    db = TestDatabase.open(store, "db");
    assertThat(handle().configuration().revsLimit()).isEqualTo(7);
    db.audit(3);
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
  void writes_that_would_pass_a_validator_by_are_refused_where_validators_cannot_be_listed() {
    old.lay("_design/v", Revision.of("1-a").with(VALIDATES));
    old.lay("_design/w", Revision.of("1-a"));
    old.lay("b", Revision.of("1-" + "f".repeat(32)));
    byte[] damaged = DatabaseSubspace.ALL_DOCS.key(handle().prefix()).string("_design/w").toBytes();
    byte[] value = db.transactions.<byte[]>read(tx -> tx.get(damaged).join());
    setRaw(damaged, new byte[] {9});

    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.get("/db/_design/v").status()).isEqualTo(200);
      assertTakesNoDocuments(server);
    }

    setRaw(damaged, value);
    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.put("/db/c", "{}").status()).isEqualTo(501);
    }
    db = TestDatabase.open(store, "db");
    db.audit(3);
  }

  @Test
  void a_database_that_an_earlier_server_makes_behind_the_upgrade_is_upgraded_by_the_next_start() {
    upgrade();
    TestDatabase late = TestDatabase.create(store, "late");
    late.put("a", "{}");
    clear(formatKey(late.catalogue.open(late.name)));

    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.get("/late/a").status()).isEqualTo(200);
      assertThat(server.put("/late/b", "{}").status()).isEqualTo(503);
      assertThat(server.put("/late/b", "{}").status()).isEqualTo(503);
      assertThat(server.put("/db/b", "{}").status()).isEqualTo(201);
    }

    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.put("/late/b", "{}").status()).isEqualTo(201);
    }
    TestDatabase.open(store, "late").audit(2);
  }

  private static byte[] formatKey(DatabaseHandle handle) {
    return DatabaseSubspace.CONFIG.key(handle.prefix()).string("format").toBytes();
  }

  /** The key of a row of edit branches that names no revision. */
  private byte[] rowWithoutRevision(String id) {
    return DatabaseSubspace.REVISIONS.key(handle().prefix()).string(id).integer(7).toBytes();
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

  @Test
  void a_server_upgrades_before_it_serves() {
    old.lay("a", Revision.of("1-zz"), Revision.of("1-ff00000000000000000000000000000a"));

    try (LectusServer server = LectusServer.start(store)) {
      assertThat(server.get("/db/a").member("_rev"))
          .isEqualTo("1-ff00000000000000000000000000000a");
      assertThat(server.get("/db/a?rev=1-zz").member("of")).isEqualTo("1-zz");
      assertThat(server.get("/db/_changes?style=all_docs").body()).contains("1-zz");
    }
    db = TestDatabase.open(store, "db");
    db.audit(1);
  }

  @Test
  void a_server_that_cannot_upgrade_does_not_start() {
    old.lay("a", Revision.of("1-zz"));
    network.plan(Fault.IO_ERROR);

    assertThatThrownBy(() -> LectusServer.start(network.store()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("cannot be upgraded");
    upgrade();
    db.audit(1);
  }

  @Test
  void a_database_of_a_later_version_is_not_touched() {
    setRaw(formatKey(handle()), new TupleWriter(8).integer(1).integer(2).toBytes());
    TestDatabase server = TestDatabase.open(store, "db");

    assertThatThrownBy(() -> server.catalogue.open(DatabaseName.of("db")))
        .hasMessageContaining("later version");
    setRaw(formatKey(handle()), new TupleWriter(8).integer(1).integer(1).toBytes());
  }

  private String read(String id, String rev) {
    ReadOptions options =
        new ReadOptions(
            Optional.of(RevisionId.of(rev)), false, false, false, false, false, List.of());
    JsonBuffer out = new JsonBuffer(64);
    new DocumentReader(db.catalogue, db.transactions, new HotDocuments(0))
        .read(db.name, id, options, out);
    return out.toString();
  }
}
