package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.testing.TestDatabase.local;
import static lectus.document.testing.TestDatabase.replicated;
import static lectus.document.testing.TestDatabase.utf8;
import static lectus.document.testing.TestDatabase.written;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonLimits;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each limit on both of its sides, on the store that would refuse what exceeds it. */
class LimitsTest {
  private static final String NULS = "0".repeat(32);

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final DocumentParser parser = new DocumentParser(DocumentLimits.DEFAULT);

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 1000, 4000})
  void revs_limit_counts_the_leaf_and_its_ancestors(int limit) {
    db.revsLimit(limit);

    assertThat(written(replicateWithHistory("shorter", limit - 1)).position()).isEqualTo(limit);
    assertThat(written(replicateWithHistory("longer", limit)).position()).isEqualTo(limit + 1);

    assertThat(db.winner("shorter").length()).isEqualTo(limit);
    assertThat(db.winner("longer").length()).isEqualTo(limit);
    RevisionId child = db.put("shorter", db.winner("shorter").leaf(), "{}");
    EditBranch extended = db.winner("shorter");
    assertThat(extended.leaf()).isEqualTo(child);
    assertThat(extended.length()).isEqualTo(limit);
    db.audit(2);
  }

  /**
   * Replicates a revision with this many ancestors; all hashes are NULs, which double in tuple
   * encoding.
   */
  private EditOutcome replicateWithHistory(String id, int ancestors) {
    String[] path = new String[ancestors + 1];
    for (int i = 0; i <= ancestors; i++) {
      path[i] = (ancestors + 1 - i) + "-" + NULS;
    }
    return db.replicate(id, "{}", path);
  }

  /** The weight of so many documents is refused, too, but only after all were looked up. */
  @Test
  void documents_of_an_atomic_request_can_be_numbered() {
    List<Edit> most = new ArrayList<>();
    for (int i = 1; i < TransactionBudget.MAX_DOCUMENTS; i++) {
      most.add(edit("d" + i, null, "{}"));
    }
    most.add(edit("d1", null, "{}"));
    assertThatThrownBy(() -> db.writer.writeAtomically(db.name, most))
        .hasMessageContaining("comes twice");

    most.add(edit("one more", null, "{}"));
    assertThatThrownBy(() -> db.writer.writeAtomically(db.name, most))
        .hasMessageContaining("the limit is 65535");
  }

  @Test
  void four_thousand_long_odd_ancestors_are_stemmed_to_what_a_value_takes() {
    db.revsLimit(4000);
    String[] path = new String[4000];
    for (int i = 0; i < path.length; i++) {
      path[i] = (path.length - i) + "-" + String.format("%0255d", i);
    }

    assertThat(db.replicate("a", "{}", path)).isInstanceOf(EditOutcome.Written.class);

    assertThat(db.winner("a").ancestors().count()).isBetween(380, 400);
    db.put("a", db.winner("a").leaf(), "{\"v\":1}");
    db.audit(1);
  }

  @Test
  void longest_id_with_the_longest_odd_revision() {
    String id = "\0".repeat(512);
    String leaf = "x".repeat(255);

    assertThat(db.replicate(id, "{\"v\":1}", "999999999999999999-" + leaf))
        .isInstanceOf(EditOutcome.Written.class);

    assertThat(db.leaves(id)).containsExactly("999999999999999999-" + leaf);
    assertThat(RevisionId.parse("1-" + leaf + "x")).isEmpty();
    db.audit(1);
  }

  @Test
  void keys_of_a_document_stay_within_what_the_store_takes() {
    String id = "\0".repeat(512);
    int overhead = DocumentsSubspace.keyOverhead(id, 16);
    // A member's name is written with a type code and a terminator.
    String longest = "n".repeat(JsonLimits.STORE_KEY_BYTES - overhead - 2);

    db.put(id, "{\"" + longest + "\":1}");
    assertTooLarge("{\"" + longest + "n\":1}", id);
    db.audit(1);
  }

  @Test
  void keys_of_a_replicated_document_do_so_with_its_odd_revision() {
    String id = "a";
    String rev = "1-" + "x".repeat(255);
    int overhead = DocumentsSubspace.keyOverhead(id, 255);
    String longest = "n".repeat(JsonLimits.STORE_KEY_BYTES - overhead - 2);
    String json = "{\"_rev\":\"" + rev + "\",\"" + longest + "\":1}";

    written(db.write(parser.replicated(id, NamedRevisions.NONE, utf8(json))));
    assertThatThrownBy(
            () -> parser.replicated(id, NamedRevisions.NONE, utf8(json.replace("\":1}", "n\":1}"))))
        .hasMessageContaining("document_too_large");
    db.audit(1);
  }

  @Test
  void rows_of_leaves_weigh_three_megabytes_at_most_and_more_are_text() {
    // 512-byte ids make large keys: some 600 bytes each.
    String id = "i".repeat(512);
    RevisionId first = db.put(id, numbers(4_500));
    assertThat(db.winner(id).body().stored()).isBetween(2_000_000L, 3_000_000L);
    RevisionId second = db.put(id, first, numbers(100_000));
    assertThat(db.winner(id).body().stored()).isLessThan(300_000);
    db.put(id, second, numbers(4_499));
    assertThat(db.winner(id).body().stored()).isGreaterThan(2_000_000L);
    db.audit(1);
  }

  @Test
  void eight_million_bytes_in_one_string_or_in_strings_a_little_too_long_for_one_value() {
    String string = "{\"s\":\"" + "x".repeat(8_000_000 - 8) + "\"}";
    RevisionId first = db.put("i".repeat(512), string);
    assertTooLarge(string.replace("\"}", "x\"}"), "i".repeat(512));
    db.put("i".repeat(512), first, string.replace("x\"}", "y\"}"));

    String element = "\"" + "x".repeat(99_999) + "\"";
    String strings = "{\"s\":[" + (element + ",").repeat(78) + element + "]}";
    db.put("many", strings);
    assertThat(db.winner("many").body().stored()).isGreaterThan(79 * 100_000);
    db.audit(2);
  }

  @Test
  void a_document_may_be_as_large_as_a_transaction_holds() {
    int most = JsonLimits.MAX_DOCUMENT_BYTES;
    DocumentParser larger =
        new DocumentParser(
            new DocumentLimits(
                512, JsonLimits.couchDb().withDocumentBytes(most), AttachmentSettings.DEFAULT));
    String string = "{\"s\":\"" + "x".repeat(most - 8) + "\"}";

    written(db.write(larger.interactive("a", NamedRevisions.NONE, utf8(string))));
    assertThatThrownBy(
            () -> larger.interactive("a", NamedRevisions.NONE, utf8(string.replace("\"}", "x\"}"))))
        .hasMessageContaining("document_too_large");
    db.audit(1);
  }

  private static String numbers(int count) {
    StringBuilder json = new StringBuilder("{\"a\":[0");
    for (int i = 1; i < count; i++) {
      json.append(",7");
    }
    return json.append("]}").toString();
  }

  private void assertTooLarge(String json, String id) {
    assertThatThrownBy(() -> parser.interactive(id, NamedRevisions.NONE, utf8(json)))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> {
              assertThat(e.error()).isInstanceOf(LectusError.TooLarge.class);
              assertThat(e.error().error()).isEqualTo("document_too_large");
            });
  }

  @Test
  void ids_that_come_after_the_body_count_in_the_size_of_its_keys() {
    String id = "i".repeat(512);
    int most = 10_000 - DocumentsSubspace.keyOverhead(id, 16) - 2;
    String tail = "\":1,\"_id\":\"" + id + "\"}";
    String fits = "{\"" + "n".repeat(most) + tail;
    String tooLarge = "{\"" + "n".repeat(most + 1) + tail;

    assertThat(parser.created(utf8(fits), () -> "new").id()).isEqualTo(id);
    assertThatThrownBy(() -> parser.created(utf8(tooLarge), () -> "new"))
        .hasMessageContaining("document_too_large");
  }

  @Test
  void a_batch_goes_on_in_other_transactions() {
    TransactionBudget budget = new TransactionBudget(20_000, 50_000, 7);
    TestDatabase small = SmallTransactions.create(stores.fresh(), "small", budget);
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      edits.add(edit("d" + i, null, "{\"v\":\"" + "x".repeat(i * 400) + "\"}"));
    }

    WriteResult result = small.writer.write(small.name, edits);

    assertThat(result.outcomes()).allMatch(EditOutcome.Written.class::isInstance);
    assertThat(result.outcomes()).extracting(EditOutcome::id).containsExactlyElementsOf(ids(edits));
    assertThat(small.changes().stream().map(it -> transaction(it.sequence())).distinct().count())
        .isGreaterThan(10);
    assertThat(result.last()).contains(small.changes().get(39).sequence());
    small.audit(40);
  }

  private static String transaction(Sequence sequence) {
    String printed = sequence.toString();
    return printed.substring(0, printed.length() - 4);
  }

  private static List<String> ids(List<Edit> edits) {
    return edits.stream().map(Edit::id).toList();
  }

  @Test
  void leaves_of_one_document_that_fit_one_by_one_need_not_fit_together() {
    TransactionBudget budget = new TransactionBudget(20_000, 25_000, 100);
    TestDatabase small = SmallTransactions.create(stores.fresh(), "small", budget);
    String json = "{\"v\":\"" + "x".repeat(9_000) + "\"}";

    List<EditOutcome> outcomes =
        small.write(
            List.of(
                replicated("a", json, "1-a"),
                replicated("a", json, "1-b"),
                replicated("a", json, "2-c", "1-b"),
                replicated("a", json, "1-d")));

    assertThat(outcomes).allMatch(EditOutcome.Written.class::isInstance);
    assertThat(small.leaves("a")).containsExactly("2-c", "1-d", "1-a");
    small.audit(1);
  }

  @Test
  void documents_with_long_histories_are_deferred_once_their_weight_is_known() {
    TransactionBudget budget = new TransactionBudget(40_000, 90_000, 100);
    TestDatabase small = SmallTransactions.create(stores.fresh(), "small", budget);
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      String[] path = new String[1000];
      for (int depth = 0; depth < path.length; depth++) {
        path[depth] = (path.length - depth) + "-" + NULS;
      }
      edits.add(replicated("d" + i, "{}", path));
    }

    assertThat(small.write(edits)).allMatch(EditOutcome.Written.class::isInstance);
    small.audit(5);
  }

  @Test
  void estimated_weight_bounds_what_the_store_counts() {
    RevisionId plain = db.put("a", "{\"v\":[1,2,3],\"\\u0000\":\"x\"}");
    String[] nuls = {"3-" + NULS, "2-" + NULS, "1-" + NULS};
    db.replicate("\0\0\0", "{}", nuls);
    db.replicate("\0\0\0", "{\"v\":1}", "9-" + "o".repeat(255));
    db.replicate("\0\0\0", "{\"v\":1}", "9-" + "p".repeat(255), nuls[0].replace('3', '8'));

    assertWeightBounds(edit("new", null, "{\"v\":1}"));
    assertWeightBounds(edit("a", plain, "{\"v\":2}"));
    assertWeightBounds(edit("a", plain, "{\"_deleted\":true,\"v\":2}"));
    assertWeightBounds(TestDatabase.deletion("\0\0\0", db.winner("\0\0\0").leaf()));
    assertWeightBounds(edit("\0\0\0", RevisionId.of("3-" + NULS), "{\"v\":2}"));
    assertWeightBounds(replicated("\0\0\0", "{}", "4-d", "3-" + NULS));
    assertWeightBounds(local("_local/\0\0\0", "0-7", "{\"v\":[1,{\"a\":\"text\"}]}"));
    assertWeightBounds(local("_local/a", "0-0", "{\"_deleted\":true}"));

    String longStrings = "{\"v\":[" + ("\"" + "x".repeat(250_000) + "\",").repeat(5) + "0]";
    assertWeightBounds(edit("new", null, longStrings + "}"));
    assertWeightBounds(edit("a", plain, longStrings + ",\"_deleted\":true}"));
    assertWeightBounds(replicated("\0\0\0", longStrings + "}", "4-d", "3-" + NULS));
    assertWeightBounds(local("_local/a", "0-0", longStrings + "}"));
  }

  private void assertWeightBounds(Edit edit) {
    try (Transaction tx = db.store.database().createTransaction()) {
      DatabaseHandle handle = db.catalogue.current(tx, db.name);
      DocumentPlanner planner =
          new PlanningScope(
                  tx,
                  handle,
                  new UpdateWriter(tx, handle),
                  EditRule.NONE,
                  Optional.empty(),
                  Map.of())
              .begin(EditGroup.of(List.of(edit), 0).get(0));
      while (planner.readOn()) {
        // What depends on these reads is asked for by the next call.
      }
      PlannedUpdate update = planner.plan().update().orElseThrow();
      UpdateWriter writer = new UpdateWriter(tx, handle);
      writer.write(update);
      long counted = tx.getApproximateSize().join();
      assertThat(writer.weight(update)).isBetween(counted, 3 * counted);
    }
  }

  @Test
  void an_atomic_request_fits_into_one_transaction_or_is_refused() {
    TransactionBudget budget = new TransactionBudget(10_000, 30_000, 3);
    TestDatabase small = SmallTransactions.create(stores.fresh(), "small", budget);
    List<Edit> fits = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      fits.add(edit("d" + i, null, "{}"));
    }
    assertThat(small.writer.writeAtomically(small.name, fits).outcomes())
        .noneMatch(EditOutcome.Failed.class::isInstance);
    assertThat(small.changes().stream().map(it -> transaction(it.sequence())).distinct())
        .hasSize(1);

    List<Edit> tooLarge =
        List.of(
            edit("e", null, "{\"v\":\"" + "x".repeat(15_000) + "\"}"),
            edit("f", null, "{\"v\":\"" + "x".repeat(15_000) + "\"}"));
    assertThatThrownBy(() -> small.writer.writeAtomically(small.name, tooLarge))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isInstanceOf(LectusError.TooLarge.class));
    small.audit(20);
  }

  @Test
  void an_atomic_request_with_a_conflict_stores_nothing_and_tells_each_outcome() {
    db.put("b", "{}");

    WriteResult result =
        db.writer.writeAtomically(
            db.name, List.of(edit("a", null, "{}"), edit("b", null, "{}"), edit("c", null, "{}")));

    assertThat(result.outcomes()).anyMatch(EditOutcome.Failed.class::isInstance);
    assertThat(result.last()).isEmpty();
    assertThat(result.outcomes().get(0)).isEqualTo(new EditOutcome.Withheld("a"));
    assertThat(error(result.outcomes().get(1))).isInstanceOf(LectusError.Conflict.class);
    assertThat(result.outcomes().get(2)).isEqualTo(new EditOutcome.Withheld("c"));
    db.audit(1);
  }

  /** Documents whose rows in indexes weigh far more than they do: each is planned once or twice. */
  @Nested
  class WideIndexes {
    private static final int INDEXES = 8;
    private static final int FIELDS = 6;

    /** A document weighs 20 to 45 kB with its rows. */
    private static final TransactionBudget BUDGET = new TransactionBudget(150_000, 400_000, 2_000);

    private final Map<String, Integer> planned = new HashMap<>();
    private final TestDatabase db = create(stores.fresh());

    /** Is asked once whenever an edit is planned. */
    private final class Counting implements EditRule {
      @Override
      public Optional<LectusError> refusal(DatabaseHandle handle, Edit edit) {
        planned.merge(edit.id(), 1, Integer::sum);
        return Optional.empty();
      }

      @Override
      public Optional<LectusError> problem(ReadTransaction tx, DatabaseHandle handle, Edit edit) {
        return Optional.empty();
      }
    }

    private TestDatabase create(Store store) {
      TestDatabase usual = TestDatabase.create(store, "wide");
      WriteRules rules = new WriteRules(false, new Counting(), Judge.NONE);
      return usual.writtenBy(
          new DocumentWriter(store, usual.catalogue, BUDGET, TransactionLimits.DEFAULT, rules));
    }

    private void index() {
      for (int i = 0; i < INDEXES; i++) {
        db.put("_design/" + i, design());
      }
      planned.clear();
    }

    private static String design() {
      String names = fields(i -> "\"f" + i + "\"");
      return json("{'language':'query','views':{'v':{'map':{'fields':{%s},'partial_filter_selector':{}},'reduce':'_count','options':{'def':{'fields':[%s]}}}}}")
          .formatted(fields(i -> "\"f" + i + "\":\"asc\""), names);
    }

    private static String fields(IntFunction<String> field) {
      return IntStream.range(0, FIELDS).mapToObj(field).collect(Collectors.joining(","));
    }

    private static String wide(char letter) {
      String text = "\"" + String.valueOf(letter).repeat(200) + "\"";
      return "{" + fields(i -> "\"f" + i + "\":" + text) + "}";
    }

    private static List<Edit> documents(int count, String json) {
      return IntStream.range(0, count)
          .<Edit>mapToObj(i -> TestDatabase.edit("d" + i, null, json))
          .toList();
    }

    /** Returns what each transaction weighed. */
    private List<Long> write(List<Edit> edits) {
      planned.clear();
      List<Long> weights = new ArrayList<>();
      PendingCommits write = db.writer.begin(db.name, edits, List.of());
      weights.add(write.plannedBytes());
      Optional<WriteResult> result = write.goOn();
      while (result.isEmpty()) {
        weights.add(write.plannedBytes());
        result = write.goOn();
      }
      assertThat(result.get().outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
      assertThat(planned).hasSize(edits.size());
      return weights;
    }

    private void assertFewPlans(List<Long> weights, int documents) {
      assertThat(weights).hasSizeBetween(2, documents).allMatch(it -> it <= BUDGET.batchBytes());
      assertThat(planned.values()).allMatch(times -> times <= 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 300})
    void no_edit_is_planned_more_than_twice(int count) {
      index();

      assertFewPlans(write(documents(count, wide('a'))), count);

      List<Edit> updates = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        RevisionId base = db.winner("d" + i).leaf();
        updates.add(TestDatabase.edit("d" + i, base, wide('b')));
      }
      assertFewPlans(write(updates), count);
      db.audit(count + INDEXES);
    }

    @Test
    void neither_without_indexes() {
      String id = "\0".repeat(500);
      List<Edit> edits =
          IntStream.range(0, 300)
              .<Edit>mapToObj(i -> TestDatabase.edit(id + i, null, "{}"))
              .toList();

      assertFewPlans(write(edits), edits.size());
      db.audit(edits.size());
    }

    private static PlannedDocument planned(DocumentPlanner planner) {
      while (planner.readOn()) {
        // What depends on these reads is asked for by the next call.
      }
      return planner.plan();
    }

    @Test
    void no_more_rows_are_held_than_there_is_room_for() {
      index();
      try (Transaction tx = db.store.database().createTransaction()) {
        DatabaseHandle handle = db.catalogue.current(tx, db.name);
        PlanningScope scope =
            new PlanningScope(
                tx,
                handle,
                new UpdateWriter(tx, handle),
                EditRule.NONE,
                Optional.empty(),
                Map.of());
        List<PlannedDocument> plans =
            EditGroup.of(documents(30, wide('a')), 0).stream()
                .map(group -> planned(scope.begin(group)))
                .toList();

        List<PlannedDocument> first = completed(tx, handle, plans, 0);
        assertThat(first).hasSize(1);
        long weight =
            first.get(0).replicating().orElseThrow().derived().stream()
                .mapToLong(UpdateWriter::weight)
                .sum();
        assertThat(weight).isGreaterThan(10_000);
        assertThat(completed(tx, handle, plans, 10 * weight - 1)).hasSize(10);
        assertThat(completed(tx, handle, plans, 10 * weight)).hasSize(11);
        assertThat(completed(tx, handle, plans, 30 * weight)).hasSize(30);
      }
    }

    private static List<PlannedDocument> completed(
        Transaction tx, DatabaseHandle handle, List<PlannedDocument> plans, long room) {
      List<PlannedDocument> completed = new ArrayList<>();
      new Maintenance(tx, handle, Long.MAX_VALUE).add(plans, room, completed::add);
      return completed;
    }
  }
}
