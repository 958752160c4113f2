package lectus.derived.rows;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.ShardId;
import lectus.derived.DerivedRow;
import lectus.derived.StoredIndex;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.document.write.Maintenance;
import lectus.json.MalformedTupleException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Indexes are always as their documents are; each test ends with the auditor. */
final class IndexMaintenanceTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final String DESIGN = "_design/i";

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final JobWorker filling = worker();

  static String design(String... fields) {
    return partial("{}", fields);
  }

  static String partial(String filter, String... fields) {
    String names = "\"" + String.join("\",\"", fields) + "\"";
    String directions = "\"" + String.join("\":\"asc\",\"", fields) + "\":\"asc\"";
    return json("{'language':'query','views':{'v':{'map':{'fields':{%s},'partial_filter_selector':%s},'reduce':'_count','options':{'def':{'fields':[%s]}}}}}")
        .formatted(directions, filter, names);
  }

  private JobWorker worker() {
    return new JobWorker(
        store,
        db.catalogue,
        Maintenance::rows,
        () -> false,
        new JobList(store, System::nanoTime),
        64);
  }

  private DatabaseHandle handle() {
    return db.catalogue.open(db.name);
  }

  private StoredIndex index() {
    return handle().indexes().all().get(0);
  }

  private List<String> entries() {
    StoredIndex index = index();
    IndexEntriesSubspace entries = new IndexEntriesSubspace(handle(), index);
    return rows(index).stream().map(row -> entries.decode(row).docId()).toList();
  }

  private List<KeyValue> rows(StoredIndex index) {
    return db.read(
        (tx, it) ->
            Awaiting.await(tx.getRange(new IndexEntriesSubspace(it, index).range()).asList()));
  }

  private List<String> findings() {
    return new StoreAudit(store, AuditListener.SILENT)
        .run(db.name).findings().stream().map(Object::toString).toList();
  }

  @Test
  void a_new_index_of_few_documents_has_them_at_once_in_order() {
    db.put("c", "{\"a\":\"b\"}");
    db.put("b", "{\"a\":3}");
    db.put("d", "{\"a\":null}");
    db.put("e", "{\"a\":{\"x\":1}}");
    db.put("f", "{\"a\":[1]}");
    db.put("g", "{\"a\":true}");
    db.put("h", "{\"a\":\"B\"}");
    db.put("none", "{\"b\":1}");
    db.put(DESIGN, design("a"));

    assertThat(index().isReadable()).isTrue();
    assertThat(entries()).containsExactly("d", "g", "b", "c", "h", "f", "e");
  }

  @Test
  void a_new_index_whose_filter_looks_at_many_fields_has_the_documents_that_were_there() {
    List<String> conditions =
        IntStream.range(0, 70).mapToObj(i -> "\"f" + i + "\":{\"$exists\":false}").toList();
    db.put("x", "{\"a\":{\"b\":[1]}}");
    db.put("y", "{\"a\":\"" + "long ".repeat(50_000) + "\"}");
    db.put("z", "{\"a\":1,\"f3\":1}");
    db.put(DESIGN, partial("{" + String.join(",", conditions) + "}", "a"));
    db.put("_design/j", design("a"));

    assertThat(entries()).containsExactly("y", "x");
  }

  @Test
  void it_follows_edits_deletions_and_conflicts() {
    db.put(DESIGN, design("a", "b"));
    RevisionId first = db.put("x", "{\"a\":1,\"b\":1}");
    RevisionId other = db.put("y", "{\"a\":1,\"b\":0}");
    assertThat(entries()).containsExactly("y", "x");

    RevisionId second = db.put("x", first, "{\"a\":0,\"b\":1}");
    assertThat(entries()).containsExactly("x", "y");
    db.delete("y", other);
    assertThat(entries()).containsExactly("x");
    db.replicate("x", "{\"a\":5}", "9-f", "1-a");
    assertThat(entries()).isEmpty();
    db.delete("x", RevisionId.of("9-f"));
    assertThat(entries()).containsExactly("x");
    db.put("x", second, "{}");
    assertThat(entries()).isEmpty();
  }

  @Test
  void a_partial_index_has_what_its_filter_matches() {
    db.put(DESIGN, partial("{\"b\":{\"$gt\":1}}", "a"));
    RevisionId first = db.put("x", "{\"a\":1,\"b\":2}");
    db.put("y", "{\"a\":1,\"b\":1}");
    db.put("_design/z", "{\"a\":1,\"b\":2}");
    assertThat(entries()).containsExactly("x");

    db.put("x", first, "{\"a\":1,\"b\":0}");
    assertThat(entries()).isEmpty();
  }

  @Test
  void an_entry_that_the_filter_would_refuse_now_is_compared_all_the_same() {
    db.put(DESIGN, partial("{\"b\":{\"$regex\":\"(a|b)+c\"}}", "a"));
    db.put("x", "{\"a\":1,\"b\":\"" + "ab".repeat(100_000) + "c\"}");
    List<DerivedRow> its = db.read((tx, it) -> computed(tx, it).get(0));
    assertThat(its).extracting(DerivedRow::isCleared).containsExactly(false, true);
    assertThat(findings()).isEmpty();
    DerivedRow entry = its.get(1);
    byte[] other = entry.value().orElseThrow().clone();
    other[other.length - 1]++;

    plant(its.get(0), entry.key(), other);
    assertThat(findings()).hasSize(1).first().asString().contains("another version of");
    plant(its.get(0), entry.key(), entry.value().orElseThrow());
    assertThat(findings()).isEmpty();
  }

  @Test
  void a_design_document_of_indexes_may_be_as_large_and_as_deep_as_any() {
    db.put("x", "{\"a\":1}");
    String deep = "[".repeat(900) + "]".repeat(900);
    String many = "{\"map\":{\"fields\":7,\"x\":{\"map\":\"\"}},\"options\":{}}";
    String view = design("a").replaceFirst("\\{\"language\":\"query\",\"views\":\\{", "");
    EditOutcome outcome =
        db.replicate(
            DESIGN,
            json("{'language':'query','deep':%s,'views':{'none':%s,'long':{'map':{'fields':{'a':'%s'}},'options':{}},%s")
                .formatted(deep, many, "x".repeat(200_000), view),
            "1-a");
    assertThat(outcome).isInstanceOf(EditOutcome.Written.class);

    assertThat(entries()).containsExactly("x");
    assertThat(handle().indexes().all()).hasSize(1);
  }

  private List<List<DerivedRow>> computed(ReadTransaction tx, DatabaseHandle it) {
    ShardId shard = it.topology().shardIn(it.topology().current(), "x");
    return Maintenance.rows(tx, it, it.indexes().all().get(0))
        .of(
            Awaiting.await(
                    new ChangesSubspace(it).read(tx, shard, EntryRange.after(Optional.empty(), 9)))
                .stream()
                .filter(change -> change.docId().equals("x"))
                .toList());
  }

  private void plant(DerivedRow refusal, byte[] key, byte[] value) {
    db.transactions.run(
        tx -> {
          tx.clear(refusal.key());
          tx.set(key, value);
          return null;
        });
  }

  @Test
  void an_index_that_is_gone_leaves_nothing() {
    db.put("x", "{\"a\":1}");
    RevisionId design = db.put(DESIGN, design("a"));
    StoredIndex index = index();
    assertThat(rows(index)).hasSize(1);

    RevisionId changed = db.put(DESIGN, design, design("b"));
    assertThat(rows(index)).isEmpty();
    assertThat(index().number()).isGreaterThan(0);
    db.delete(DESIGN, changed);
    assertThat(handle().indexes().isEmpty()).isTrue();
  }

  @Test
  void an_index_of_many_documents_is_built_while_they_change() {
    for (int i = 0; i < 300; i++) {
      db.put("d" + i, "{\"a\":" + i % 7 + "}");
    }
    db.put(DESIGN, design("a"));
    assertThat(index().isReadable()).isFalse();

    assertThat(filling.step()).isTrue();
    db.put("d00", "{\"a\":1}");
    db.put("z", "{\"a\":1}");
    assertThat(findings()).isEmpty();
    while (filling.step()) {
      assertThat(findings()).isEmpty();
    }
    assertThat(index().isReadable()).isTrue();
    assertThat(entries()).hasSize(302);
  }

  @Test
  void another_server_goes_on_when_a_server_gives_its_lease_back() {
    for (int i = 0; i < 300; i++) {
      db.put("d" + i, "{\"a\":" + i % 7 + "}");
    }
    db.put(DESIGN, design("a"));
    JobWorker other = worker();

    assertThat(filling.step()).isTrue();
    assertThat(other.step()).isFalse();
    filling.giveBack();
    assertThat(other.step()).isTrue();
    assertThat(filling.step()).isFalse();
    while (!index().isReadable()) {
      assertThat(other.step()).isTrue();
    }
  }

  @Test
  void a_task_of_a_database_that_is_gone_ends() {
    for (int i = 0; i < 300; i++) {
      db.put("d" + i, "{\"a\":1}");
    }
    db.put(DESIGN, design("a"));
    db.catalogue.delete(db.name);

    assertThat(filling.step()).isTrue();
    assertThat(filling.step()).isFalse();
  }

  @Test
  void long_values_have_entries_too() {
    db.put(DESIGN, design("a"));
    String text = "\"" + "ab\\u0000ü".repeat(50_000) + "\"";
    db.put("x", "{\"a\":" + text + "}");
    db.put("y", "{\"a\":[" + text + "," + text + "]}");
    db.put("z", "{\"a\":1e300}");

    assertThat(entries()).containsExactly("z", "x", "y");
    assertThat(rows(index()))
        .allMatch(row -> row.getKey().length < 3 * 1_000)
        .allMatch(row -> row.getValue().length < 300);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void random_writes_leave_it_right(long seed) {
    Random random = new Random(seed);
    String[] values = {"1", "\"x\"", "null", "[1,2]", "{\"b\":2}", "\"" + "y".repeat(3_000) + "\""};
    for (int i = 0; i < 250; i++) {
      String id = random.nextInt(8) == 0 ? DESIGN + random.nextInt(2) : "d" + random.nextInt(12);
      String body =
          id.startsWith("_")
              ? random.nextBoolean()
                  ? design("a", "b")
                  : partial(json("{'b':{'$exists':true}}"), "a")
              : "{\"a\":"
                  + values[random.nextInt(values.length)]
                  + (random.nextBoolean() ? ",\"b\":" + random.nextInt(3) : "")
                  + "}";
      Optional<RevisionId> base =
          db.branches(id).stream()
              .filter(it -> !it.deleted() && random.nextInt(9) > 0)
              .findFirst()
              .map(EditBranch::leaf);
      switch (random.nextInt(5)) {
        case 0 ->
            db.replicate(
                id, body, (1 + random.nextInt(4)) + "-" + (char) ('a' + random.nextInt(6)));
        case 1 -> base.ifPresent(it -> db.write(deletion(id, it)));
        default -> db.write(edit(id, base.orElse(null), body));
      }
    }
    assertThat(findings()).isEmpty();
  }

  @Test
  void the_auditor_finds_what_is_missing_too_much_or_old() {
    db.put("x", "{\"a\":1}");
    db.put("y", "{\"a\":2}");
    db.put(DESIGN, design("a"));
    KeyValue first = rows(index()).get(0);
    KeyValue second = rows(index()).get(1);

    plant(first.getKey(), null);
    assertThat(findings()).singleElement().asString().contains("lacks the document x");
    plant(first.getKey(), second.getValue());
    assertThat(findings()).singleElement().asString().contains("another version of the document x");
    plant(first.getKey(), first.getValue());
    byte[] stray = second.getKey().clone();
    stray[stray.length - 2] = 'x';
    plant(stray, second.getValue());
    assertThat(findings()).singleElement().asString().contains("x should not have");
    plant(stray, null);
    assertThat(findings()).isEmpty();
  }

  private void plant(byte[] key, byte[] value) {
    db.transactions.run(
        tx -> {
          if (value == null) {
            tx.clear(key);
          } else {
            tx.set(key, value);
          }
          return null;
        });
  }

  /** Whatever clients store, documents are written and indexes are built. */
  @Nested
  class Bounds {
    @RegisterExtension static final TestStores stores = SoundStore.stores();
    private static final int FIELDS = 6;

    private final Store store = stores.fresh();

    private static String design() {
      return IndexMaintenanceTest.design(
          IntStream.range(0, FIELDS).mapToObj(i -> "f" + i).toArray(String[]::new));
    }

    private static String document(String value) {
      return IntStream.range(0, FIELDS)
          .mapToObj(i -> "\"f" + i + "\":" + value)
          .collect(Collectors.joining(",", "{", "}"));
    }

    private static TestDatabase withDocuments(TestDatabase db, int count, String json) {
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        edits.add(TestDatabase.edit("d" + i, null, json));
      }
      db.write(edits);
      return db;
    }

    private static StoredIndex index(TestDatabase db) {
      return db.catalogue.open(db.name).indexes().all().get(0);
    }

    @Test
    void a_document_is_written_whose_values_have_many_zero_bytes_in_an_index() {
      TestDatabase db = TestDatabase.create(store);
      db.put(DESIGN, design());
      String zeros = "[" + "0,".repeat(300) + "0]";

      db.put("\u0000".repeat(500), document(zeros));
      assertThat(index(db).isReadable()).isTrue();
    }

    @Test
    void an_index_is_built_whose_entries_do_not_fit_into_one_transaction() {
      String text = "\"" + "x".repeat(1_100) + "\"";
      TestDatabase db = withDocuments(TestDatabase.create(store), 1_900, document(text));
      db.put(DESIGN, design());

      JobWorker filling = worker(db, 4_000);
      for (int steps = 0; steps < 20 && filling.step(); steps++) {
        assertThat(index(db).definition().fields()).hasSize(FIELDS);
      }
      assertThat(index(db).isReadable()).isTrue();
    }

    /** Of 1 MB each, every one in a transaction of its own. */
    private TestDatabase withLargeDocuments(int count) {
      TestDatabase db = TestDatabase.create(store);
      String text = "x".repeat(1_000_000);
      for (int i = 0; i < count; i++) {
        db.put("d" + i, "{\"f0\":\"" + i + text + "\"}");
        db.delete("gone" + i, db.put("gone" + i, "{}"));
      }
      return db;
    }

    @Test
    void large_documents_that_one_transaction_can_read_are_in_an_index_at_once() {
      TestDatabase db = withLargeDocuments(5);
      db.put(DESIGN, IndexMaintenanceTest.design("f0"));
      assertThat(index(db).isReadable()).isTrue();
    }

    @Test
    void larger_ones_are_read_in_several_transactions() {
      TestDatabase db = withLargeDocuments(20);
      db.put(DESIGN, IndexMaintenanceTest.design("f0"));
      assertThat(index(db).isReadable()).isFalse();

      JobWorker filling = worker(db, 4_000);
      List<Long> done = new ArrayList<>();
      while (filling.step()) {
        store.tasks().running().forEach(it -> done.add(it.done()));
      }
      assertThat(index(db).isReadable()).isTrue();
      assertThat(done).hasSizeGreaterThanOrEqualTo(2).isSorted();
      assertThat(done.get(0)).isBetween(2L, 24L);
    }

    @Test
    void an_index_that_cannot_be_built_keeps_no_other_waiting() {
      List<TestDatabase> both = new ArrayList<>();
      for (String name : List.of("one", "other")) {
        both.add(withDocuments(TestDatabase.create(store, name), 300, document("1")));
      }
      both.forEach(db -> db.put(DESIGN, design()));
      both.sort((a, b) -> life(a).compareTo(life(b)));
      TestDatabase damaged = both.get(0);
      byte[] progress = progressKey(damaged);
      damaged.transactions.run(
          tx -> {
            tx.set(progress, new byte[] {1});
            return null;
          });

      JobWorker filling = worker(damaged, 64);
      for (int steps = 0; steps < 20 && !index(both.get(1)).isReadable(); steps++) {
        assertThat(filling.step()).isTrue();
      }
      assertThat(index(both.get(1)).isReadable()).isTrue();
      assertThatThrownBy(filling::step).isInstanceOf(MalformedTupleException.class);

      damaged.transactions.run(
          tx -> {
            tx.clear(progress);
            return null;
          });
      JobWorker other = worker(damaged, 64);
      while (other.step()) {
        assertThat(index(both.get(1)).isReadable()).isTrue();
      }
      assertThat(index(damaged).isReadable()).isTrue();
    }

    private static String life(TestDatabase db) {
      return db.catalogue.open(db.name).instance().hex();
    }

    private JobWorker worker(TestDatabase db, int most) {
      return new JobWorker(
          store,
          db.catalogue,
          Maintenance::rows,
          () -> false,
          new JobList(store, System::nanoTime),
          most);
    }

    private static byte[] progressKey(TestDatabase db) {
      DatabaseHandle handle = db.catalogue.open(db.name);
      return DatabaseSubspace.JOB_TASKS
          .key(handle.prefix())
          .integer(index(db).number())
          .string("0")
          .toBytes();
    }
  }
}
