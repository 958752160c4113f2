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
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.TupleWriter;
import lectus.store.EmbeddedStores;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A row under a key that is another row's key and one more element belongs to nobody: the audit
 * names it, and no answer shows what the other row says twice. Tried with a row of each kind that a
 * store can have.
 */
final class StrayRowsTest {
  private static final Pattern KEYS_OF_TABLE =
      Pattern.compile("\\((root|prefix), (\\d+)(?:, (\\d+))?");

  /** More of a printed key is cut off in findings. */
  private static final int PRINTED = 100;

  @TempDir Path folder;

  @BeforeEach
  void only() {
    TestStores.onlyEmbedded();
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
        .map(StrayRowsTest::kind)
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
