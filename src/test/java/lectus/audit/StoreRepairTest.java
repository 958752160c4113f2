package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.audit.AuditReport.Finding;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.TupleWriter;
import lectus.store.EmbeddedStores;
import lectus.store.FaultyStore;
import lectus.store.RootSubspace;
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

  private static final Pattern KEYS_OF_TABLE =
      Pattern.compile("\\((root|prefix), (\\d+)(?:, (\\d+))?");

  /** More of a printed key is cut off in findings. */
  private static final int PRINTED = 100;

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

  @Test
  void the_audit_names_a_stray_of_each_kind() throws IOException {
    TreeSet<String> kinds = new TreeSet<>();
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        EveryKindOfRow.write(server);
      }
      EveryKindOfRow.complete(TestDatabase.open(store, "all"));
      assertEachIsNamed(store, kinds);
    }
    assertThat(kinds).containsAll(kindsOfTable());
  }

  private static List<String> kindsOfTable() throws IOException {
    return KEYS_OF_TABLE
        .matcher(Files.readString(Path.of("ARCHITECTURE.md")))
        .results()
        .map(StoreRepairTest::kind)
        .distinct()
        .toList();
  }

  private static String kind(MatchResult row) {
    String second = row.group(3) == null ? "" : " " + row.group(3);
    return row.group(1) + " " + row.group(2) + second;
  }

  private static void assertEachIsNamed(Store store, TreeSet<String> kinds) {
    TestDatabase db = TestDatabase.open(store, "unnamed");
    AuditedStore audited = new AuditedStore(store, db.transactions);
    assertThat(audited.findings()).isEmpty();
    List<EveryKindOfRow.Row> rows = EveryKindOfRow.rows(store);
    for (EveryKindOfRow.Row row : rows) {
      String words = row.kind().replaceFirst("^(\\S+ \\d+(?: \\d+)?).*", "$1");
      kinds.add(words);
      kinds.add(words.replaceFirst("^(\\S+ \\d+) .*", "$1"));
    }
    // Most are named when all are there, or once what hides a whole database is gone; one that
    // others hide even then is tried alone.
    List<EveryKindOfRow.Row> hidden = unnamed(db, audited, unnamed(db, audited, rows));
    assertThat(hidden).hasSizeLessThan(rows.size() / 4);
    assertThat(hidden).allSatisfy(it -> assertThat(unnamed(db, audited, List.of(it))).isEmpty());
    assertThat(audited.findings()).isEmpty();
  }

  /** Returns those of the rows whose strays are not named when all of these strays are there. */
  private static List<EveryKindOfRow.Row> unnamed(
      TestDatabase db, AuditedStore audited, List<EveryKindOfRow.Row> rows) {
    rows.forEach(row -> db.transactions.run(tx -> set(tx, stray(row.key()), row.value())));
    String named = String.join("\n", audited.problems());
    rows.forEach(row -> db.transactions.run(tx -> clear(tx, stray(row.key()))));
    return rows.stream()
        .filter(
            row -> {
              String printed = ByteArrayUtil.printable(stray(row.key()));
              return !named.contains(printed.substring(0, Math.min(printed.length(), PRINTED)));
            })
        .toList();
  }

  @Test
  void no_answer_shows_it() {
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        EveryKindOfRow.write(server);
      }
      TestDatabase db = TestDatabase.open(store, "unnamed");
      List<String> wrong = new ArrayList<>();
      Map<String, String> before = new LinkedHashMap<>();
      List<EveryKindOfRow.Row> rows = EveryKindOfRow.rows(store);
      try (LectusServer server = LectusServer.start(store)) {
        targets(server, before::put);
        for (EveryKindOfRow.Row row : rows) {
          byte[] stray = stray(row.key());
          db.transactions.run(tx -> set(tx, stray, row.value()));
          targets(
              server,
              (target, answer) -> {
                if (!answer.isEmpty() && !answer.equals(before.get(target))) {
                  wrong.add(row.kind() + ": " + target + " is " + answer);
                }
              });
          db.transactions.run(tx -> clear(tx, stray));
        }
      }
      assertThat(before.values()).doesNotContain("");
      assertThat(wrong).isEmpty();
    }
  }

  /** Rows on which all databases depend. */
  @Test
  void strays_among_databases_and_in_the_updates_log_stop_no_reader() {
    List<String> targets =
        List.of(
            "/_all_dbs",
            "/_all_dbs?limit=2",
            "/_all_dbs?limit=2&skip=1",
            "/_all_dbs?descending=true&limit=3",
            "/_dbs_info?limit=2",
            "/_db_updates",
            "/_db_updates?descending=true&limit=4");
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        List.of("a", "b", "c", "d").forEach(name -> server.put("/" + name));
        List<String> before = targets.stream().map(it -> json(server, it).body()).toList();
        TestDatabase db = TestDatabase.open(store, "unnamed");
        for (RootSubspace part : List.of(RootSubspace.CATALOGUE, RootSubspace.UPDATES)) {
          Range rows = part.range(store.rootPrefix());
          db.transactions.run(
              tx -> {
                for (KeyValue row : tx.getRange(rows).asList().join()) {
                  tx.set(stray(row.getKey()), row.getValue());
                }
                return null;
              });
        }
        assertThat(targets.stream().map(it -> json(server, it).body()).toList()).isEqualTo(before);

        String since = server.get("/_db_updates").member("last_seq");
        server.put("/e");
        assertThat(server.get("/_db_updates?feed=longpoll&since=" + since).body())
            .contains("\"db_name\":\"e\"");
      }
      SoundStore.repair(store);
    }
  }

  private static void targets(LectusServer server, BiConsumer<String, String> sink) {
    List<String> targets =
        List.of(
            "/_all_dbs",
            "/all",
            "/all/_all_docs?include_docs=true&attachments=true",
            "/all/_changes?style=all_docs&include_docs=true&attachments=true",
            "/all/_changes?feed=normal&descending=true",
            "/all/_local_docs?include_docs=true",
            "/all/_design_docs",
            "/all/_index",
            "/all/_feeds",
            "/all/_feeds/f",
            "/all/_security",
            "/all/_auto_purge",
            "/all/_purged_infos",
            "/all/_purged_infos_limit",
            "/all/_revs_limit",
            "/all/_changes/_meta",
            "/all/_partition/p",
            "/all/_partition/p/_all_docs",
            "/all/p:a?conflicts=true&revs_info=true",
            "/all/p:a?open_revs=all&revs=true",
            "/all/p:text",
            "/all/p:text/note",
            "/shards/_changes",
            "/shards/_changes/_meta",
            "/_node/_local/_config");
    for (String target : targets) {
      sink.accept(target, shown(() -> json(server, target)));
    }
    String find = "{\"selector\":{\"v\":{\"$gte\":0}},\"use_index\":\"i\"}";
    sink.accept("_find", shown(() -> server.post("/all/_find", find)));
  }

  private static Answer json(LectusServer server, String target) {
    return server.request("GET", target, "Accept", "application/json").send();
  }

  /** Returns an empty text for an answer that says that something is wrong. */
  private static String shown(Supplier<Answer> asked) {
    try {
      Answer answer = asked.get();
      return answer.status() == 200 ? answer.body() : "";
    } catch (IllegalStateException | UncheckedIOException cut) {
      return "";
    }
  }

  private static Void set(Transaction tx, byte[] key, byte[] value) {
    tx.set(key, value);
    return null;
  }

  private static Void clear(Transaction tx, byte[] key) {
    tx.clear(key);
    return null;
  }

  private static byte[] stray(byte[] key) {
    return new TupleWriter(key).integer(7).toBytes();
  }
}
