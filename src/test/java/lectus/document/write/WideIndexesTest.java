package lectus.document.write;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

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
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents whose rows in indexes weigh far more than they do: each is planned once or twice. */
final class WideIndexesTest {
  private static final int INDEXES = 8;
  private static final int FIELDS = 6;

  /** A document weighs 20 to 45 kB with its rows. */
  private static final TransactionBudget BUDGET = new TransactionBudget(150_000, 400_000, 2_000);

  @RegisterExtension static final TestStores stores = SoundStore.stores();

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
        IntStream.range(0, 300).<Edit>mapToObj(i -> TestDatabase.edit(id + i, null, "{}")).toList();

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
              tx, handle, new UpdateWriter(tx, handle), EditRule.NONE, Optional.empty(), Map.of());
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
