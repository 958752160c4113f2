package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.testing.TestDatabase.local;
import static lectus.document.testing.TestDatabase.replicated;
import static lectus.document.testing.TestDatabase.written;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.UserContext;
import lectus.database.Validator;
import lectus.database.ValidatorsSubspace;
import lectus.document.read.DesignPrograms;
import lectus.document.testing.JavaFunctions;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.WriteRules.EditRule;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Databases with a design document that asks for every write to be validated. */
class ValidationTest {
  private static final String VALIDATES = JavaFunctions.validating("refuse");
  private static final String DESIGN = "_design/auth";

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private final JavaFunctions functions = new JavaFunctions(store);
  private final WriteRules rules = new WriteRules(false, EditRule.NONE, functions);
  private final TestDatabase plain = TestDatabase.create(store);
  private final TestDatabase db =
      plain.writtenBy(new DocumentWriter(store, plain.catalogue, rules));
  private final FaultyStore otherServer = new FaultyStore(store);
  private final TestDatabase elsewhere =
      db.writtenBy(
          new DocumentWriter(
              otherServer.store(),
              new Catalogue(
                  store,
                  new TransactionRunner(store, TransactionLimits.DEFAULT),
                  InstantSource.system()),
              rules));

  private static void assertRefused(EditOutcome outcome) {
    assertThat(error(outcome)).isEqualTo(new LectusError.Forbidden("refuse"));
  }

  private static UserContext named(String name) {
    return UserContext.named(name, Set.of());
  }

  private List<String> validators() {
    return handle().validators().stream().map(Validator::designId).toList();
  }

  @Test
  void edits_are_refused_whatever_they_do() {
    RevisionId first = db.put("a", "{}");
    db.put(DESIGN, VALIDATES);

    assertRefused(db.write(edit("b", null, "{}")));
    assertRefused(db.write(edit("a", first, "{\"v\":1}")));
    assertRefused(db.write(deletion("a", first)));
    assertRefused(db.replicate("b", "{}", "1-a"));
    assertRefused(db.replicate("a", "{\"_deleted\":true}", "2-a", first.toString()));
    assertThat(db.leaves("a")).containsExactly(first.toString());
    db.audit(2);
  }

  @Test
  void what_validation_does_not_concern_is_written() {
    RevisionId validator = db.put(DESIGN, VALIDATES);

    written(db.write(edit("_design/other", null, "{}")));
    written(db.write(local("_local/x", "0-0", "{}")));
    written(db.replicate("_design/replicated", VALIDATES, "1-a"));
    assertThat(functions.calls()).isZero();
    db.audit(3);

    assertThat(validators()).containsExactly(DESIGN, "_design/replicated");
    db.delete(DESIGN, validator);
    assertThat(validators()).containsExactly("_design/replicated");
    assertRefused(db.write(edit("b", null, "{}")));
    db.delete("_design/replicated", RevisionId.of("1-a"));
    db.put("b", "{}");
    db.audit(4);
  }

  @Test
  void a_known_revision_is_judged_only_if_its_history_ends_a_leaf() {
    db.replicate("a", "{}", "2-b");
    db.replicate("a", "{}", "1-b");
    db.put(DESIGN, VALIDATES);

    assertThat(db.replicate("a", "{}", "2-b")).isInstanceOf(EditOutcome.Unchanged.class);
    assertThat(functions.calls()).isZero();
    assertRefused(db.replicate("a", "{}", "2-b", "1-b"));
    db.audit(2);
  }

  @Test
  void every_function_is_asked() {
    db.put("_design/a", JavaFunctions.validating("min 5"));
    db.put("_design/b", JavaFunctions.validating("owner"));

    assertThat(error(db.write(edit("x", null, "{\"v\":4,\"owner\":\"ann\"}").by(named("ann")))))
        .isEqualTo(new LectusError.Forbidden("min 5"));
    assertThat(error(db.write(edit("x", null, "{\"v\":5,\"owner\":\"ann\"}").by(named("bob")))))
        .isEqualTo(new LectusError.Unauthorized("owner"));
    written(db.write(edit("x", null, "{\"v\":5,\"owner\":\"ann\"}").by(named("ann"))));
    db.audit(3);
  }

  @Test
  void the_old_document_is_the_leaf_that_is_extended() {
    db.put(DESIGN, JavaFunctions.validating("was"));
    RevisionId first = db.put("a", "{\"v\":1,\"was\":null}");

    assertThat(error(db.write(edit("a", first, "{\"v\":2,\"was\":7}"))))
        .isInstanceOf(LectusError.Forbidden.class);
    RevisionId second = db.put("a", first, "{\"v\":2,\"was\":1}");
    written(
        db.replicate(
            "a", "{\"v\":3,\"was\":2}", "4-x", "3-x", second.toString(), first.toString()));
    written(db.replicate("a", "{\"v\":4,\"was\":null}", "3-y", "2-y"));
    written(db.write(edit("a", RevisionId.of("3-y"), "{\"_deleted\":true,\"v\":5,\"was\":4}")));
    RevisionId last =
        written(db.write(edit("a", RevisionId.of("4-x"), "{\"_deleted\":true,\"v\":6,\"was\":3}")));
    written(db.replicate("a", "{\"v\":7,\"was\":6}", "6-z", last.toString()));
    db.write(Purging.of("a", Set.of(RevisionId.of("6-z"))));
    written(db.write(edit("a", null, "{\"v\":8,\"was\":null}")));
    db.audit(2);
  }

  @Test
  void replicated_edits_of_one_document_are_judged_one_by_one() {
    db.put(DESIGN, JavaFunctions.validating("min 5"));

    List<EditOutcome> outcomes =
        db.write(
            List.of(
                replicated("a", "{\"v\":5}", "1-a"),
                replicated("a", "{\"v\":4}", "1-b"),
                replicated("a", "{\"v\":6}", "2-a", "1-a"),
                edit("b", null, "{\"v\":1}"),
                edit("c", null, "{\"v\":7}"),
                local("_local/x", "0-0", "{}")));

    written(outcomes.get(0));
    assertThat(error(outcomes.get(1))).isEqualTo(new LectusError.Forbidden("min 5"));
    written(outcomes.get(2));
    assertThat(error(outcomes.get(3))).isInstanceOf(LectusError.Forbidden.class);
    written(outcomes.get(4));
    written(outcomes.get(5));
    assertThat(db.leaves("a")).containsExactly("2-a");
    db.audit(3);
  }

  @Test
  void a_later_edit_of_a_document_in_a_request_sees_the_earlier_one() {
    db.put(DESIGN, JavaFunctions.validating("was"));
    RevisionId first = db.put("a", "{\"v\":1,\"was\":null}");
    RevisionId second = db.put("a", first, "{\"v\":2,\"was\":1}");
    db.write(Purging.of("a", second));

    List<EditOutcome> outcomes =
        db.write(
            List.of(
                edit("a", null, "{\"v\":1,\"was\":null}"),
                edit("a", first, "{\"v\":2,\"was\":1}"),
                edit("a", second, "{\"v\":3,\"was\":1}")));

    assertThat(written(outcomes.get(0))).isEqualTo(first);
    assertThat(written(outcomes.get(1))).isEqualTo(second);
    assertThat(error(outcomes.get(2))).isInstanceOf(LectusError.Forbidden.class);
    db.audit(2);
  }

  @Test
  void a_retry_after_a_conflict_calls_no_function_again() {
    db.put(DESIGN, JavaFunctions.validating("accept"));
    RevisionId first = db.put("a", "{}");
    int before = functions.calls();
    otherServer.beforeNextCommit(() -> db.catalogue.reshard(db.name, 2));

    written(elsewhere.write(edit("b", null, "{}")));
    assertThat(functions.calls()).isEqualTo(before + 1);
    otherServer.beforeNextCommit(() -> db.put("_design/other", "{}"));
    written(elsewhere.write(edit("a", first, "{}")));
    db.audit(4);
  }

  @Test
  void a_verdict_on_what_has_changed_since_does_not_count() {
    db.put(DESIGN, JavaFunctions.validating("was"));
    db.replicate("a", "{\"v\":1,\"was\":null}", "1-a");
    AtomicBoolean isFirst = new AtomicBoolean(true);
    functions.before(
        () -> {
          if (isFirst.getAndSet(false)) {
            db.write(Purging.of("a", RevisionId.of("1-a")));
            db.replicate("a", "{\"v\":9,\"was\":null}", "1-a");
          }
        });

    assertThat(error(elsewhere.replicate("a", "{\"v\":2,\"was\":1}", "2-a", "1-a")))
        .isInstanceOf(LectusError.Forbidden.class);
    db.audit(2);
  }

  @Test
  void a_verdict_of_a_function_that_was_replaced_does_not_count() {
    RevisionId validator = db.put(DESIGN, JavaFunctions.validating("accept"));
    AtomicBoolean isFirst = new AtomicBoolean(true);
    functions.before(
        () -> {
          if (isFirst.getAndSet(false)) {
            db.put(DESIGN, validator, VALIDATES);
          }
        });

    assertRefused(elsewhere.write(edit("a", null, "{}")));
    db.audit(1);
  }

  @Test
  void what_others_change_all_the_time_is_given_up() {
    db.put(DESIGN, JavaFunctions.validating("accept"));
    AtomicInteger changes = new AtomicInteger();
    functions.before(() -> db.put("_design/" + changes.incrementAndGet(), VALIDATES));

    assertThat(error(elsewhere.write(edit("a", null, "{}")))).isInstanceOf(LectusError.class);
    functions.before(() -> {});
  }

  @Test
  void a_conflict_is_told_before_it_is_refused() {
    RevisionId first = db.put("a", "{}");
    db.put("a", first, "{\"v\":1}");
    db.put(DESIGN, VALIDATES);

    TestDatabase.assertConflict(db.write(edit("a", null, "{}")));
    TestDatabase.assertConflict(db.write(edit("a", first, "{}")));
    db.audit(2);
  }

  @Test
  void atomic_edits_are_refused_together() {
    db.put(DESIGN, VALIDATES);

    List<EditOutcome> outcomes =
        db.writer
            .writeAtomically(
                db.name, List.of(edit("a", null, "{}"), edit("_design/other", null, "{}")))
            .outcomes();

    assertRefused(outcomes.get(0));
    assertThat(outcomes.get(1)).isInstanceOf(EditOutcome.Withheld.class);
    db.audit(1);
  }

  @Test
  void a_server_that_is_told_to_ignore_it_writes() {
    db.put(DESIGN, VALIDATES);

    written(
        db.writtenBy(
                new DocumentWriter(
                    store, db.catalogue, new WriteRules(true, EditRule.NONE, Judge.NONE)))
            .write(edit("a", null, "{}")));
    assertRefused(db.write(edit("b", null, "{}")));
    db.audit(2);
  }

  @Test
  void an_edit_that_adds_or_takes_away_the_member_counts() {
    RevisionId rev = db.put(DESIGN, "{\"validate_doc_update_\":1}");
    db.put("a", "{}");
    rev = db.put(DESIGN, rev, VALIDATES);
    assertRefused(db.write(edit("b", null, "{}")));
    rev = db.put(DESIGN, rev, "{\"validate_doc_update\":{\"in\":{\"any\":\"object\"}}}");
    assertThat(error(db.write(edit("b", null, "{}")))).isInstanceOf(LectusError.Unavailable.class);

    rev = db.put(DESIGN, rev, "{\"views\":{}}");

    db.put("b", "{}");
    db.delete(DESIGN, rev);
    db.audit(3);
  }

  @Test
  void the_winner_decides_however_it_came_to_win() {
    db.replicate(DESIGN, "{}", "2-b");
    db.replicate(DESIGN, VALIDATES, "1-a");
    assertThat(validators()).isEmpty();

    RevisionId tombstone = db.delete(DESIGN, RevisionId.of("2-b"));
    assertThat(validators()).containsExactly(DESIGN);
    assertRefused(db.write(edit("x", null, "{}")));

    db.replicate(DESIGN, "{}", "2-z");
    assertThat(validators()).isEmpty();
    db.put(DESIGN, RevisionId.of("1-a"), "{\"x\":1,\"validate_doc_update\":\"refuse\"}");
    db.replicate(DESIGN, VALIDATES, "3-z", "2-z");
    assertThat(validators()).containsExactly(DESIGN);
    db.replicate(DESIGN, "{\"_deleted\":true}", "9-z", tombstone.toString());
    assertThat(validators()).containsExactly(DESIGN);
    db.audit(1);
  }

  @Test
  void a_write_that_is_overtaken_by_the_design_document_is_refused() {
    elsewhere.put("before", "{}");
    otherServer.beforeNextCommit(() -> db.put(DESIGN, VALIDATES));

    assertRefused(elsewhere.write(edit("a", null, "{}")));
    assertThat(db.leaves("a")).isEmpty();
    db.audit(2);
  }

  @Test
  void a_write_that_is_overtaken_by_the_end_of_the_design_document_is_made() {
    RevisionId validator = db.put(DESIGN, VALIDATES);
    assertRefused(elsewhere.write(edit("a", null, "{}")));
    db.delete(DESIGN, validator);

    written(elsewhere.write(edit("a", null, "{}")));
    db.audit(2);
  }

  @Test
  void a_purged_design_document_that_comes_again_without_the_member_validates_nothing() {
    db.replicate(DESIGN, VALIDATES, "1-a");
    assertRefused(elsewhere.write(edit("a", null, "{}")));
    db.write(Purging.of(DESIGN, RevisionId.of("1-a")));
    written(elsewhere.write(edit("a", null, "{}")));

    db.replicate(DESIGN, "{}", "1-a");
    written(elsewhere.write(edit("b", null, "{}")));
    db.audit(3);
  }

  /** A write answered after the design document has passed validation. */
  @Test
  void no_write_passes_behind_the_design_document() {
    List<CompletableFuture<Integer>> writers = new ArrayList<>();
    for (int writer = 0; writer < 4; writer++) {
      String head = "w" + writer + "-";
      writers.add(
          CompletableFuture.supplyAsync(
              () -> {
                int made = 0;
                while (elsewhere.write(edit(head + made, null, "{}"))
                    instanceof EditOutcome.Written) {
                  made++;
                }
                return made;
              }));
    }
    db.put(DESIGN, VALIDATES);
    int made = writers.stream().mapToInt(CompletableFuture::join).sum();

    // Earlier writes have lower sequences than the design document, which came last.
    assertThat(db.changes()).hasSize(made + 1);
    assertThat(db.changes().get(made).docId()).isEqualTo(DESIGN);
    db.audit(made + 1);
  }

  @Test
  void broken_design_documents_are_refused_and_others_beside_them_written() {
    RevisionId first = db.put("_design/good", "{\"views\":{}}");
    List<EditOutcome> outcomes =
        db.write(
            List.of(
                replicated("_design/d", "{\"views\":\"x\"}", "1-a"),
                replicated("_design/d", "{\"views\":{}}", "1-b"),
                edit("_design/e", null, "{\"_deleted\":true,\"filters\":{\"f\":7}}"),
                edit("_design/good", first, "{\"language\":7}"),
                edit("_design/good", null, "{\"language\":7}")));

    assertThat(error(outcomes.get(0)))
        .isEqualTo(
            new LectusError.BadRequest(
                "invalid_design_doc", "`views` field must have object type"));
    written(outcomes.get(1));
    assertThat(error(outcomes.get(2))).isInstanceOf(LectusError.BadRequest.class);
    assertThat(error(outcomes.get(3))).isInstanceOf(LectusError.BadRequest.class);
    TestDatabase.assertConflict(outcomes.get(4));
    assertThat(db.leaves("_design/d")).containsExactly("1-b");
    db.audit(2);
  }

  @Test
  void the_auditor_finds_a_list_that_disagrees_with_the_design_documents() {
    RevisionId validator = db.put(DESIGN, VALIDATES);
    db.put("_design/other", "{}");
    list(DESIGN, false);
    list("_design/other", true);
    list("_design/gone", true);

    assertThat(new StoreAudit(store, AuditListener.SILENT).run(db.name).findings())
        .extracting(Object::toString)
        .satisfiesExactlyInAnyOrder(
            one -> assertThat(one).contains(DESIGN, "not among the validators"),
            one -> assertThat(one).contains("_design/other", "no validate_doc_update"),
            one -> assertThat(one).contains("_design/gone", "no edit branch"),
            one -> assertThat(one).contains("_design/gone", "no validate_doc_update"));

    list(DESIGN, true);
    list("_design/other", false);
    list("_design/gone", false);
    assertThat(new StoreAudit(store, AuditListener.SILENT).run(db.name).findings())
        .singleElement()
        .asString()
        .contains(DESIGN, "it is listed as", validator.toString());
    db.delete(DESIGN, validator);
    db.audit(2);
  }

  private void list(String docId, boolean validates) {
    DatabaseHandle handle = handle();
    ValidatorsSubspace validators = new ValidatorsSubspace(handle.prefix());
    db.transactions.run(
        tx -> {
          if (validates) {
            validators.add(tx, handle.incarnation(), docId, "1-a", Optional.empty(), 1);
          } else {
            validators.remove(tx, docId);
          }
          db.catalogue.moveVersion(tx, handle);
          return null;
        });
  }

  private DatabaseHandle handle() {
    return db.catalogue.open(db.name);
  }

  private static String refusing(String member) {
    return "{\"validate_doc_update\":\"function(newDoc) { if (newDoc."
        + member
        + ") throw({forbidden: '"
        + member
        + "'}); }\"}";
  }

  @Test
  void documents_that_take_more_memory_than_calls_may_are_judged_by_all() {
    TestDatabase plain = TestDatabase.create(stores.fresh());
    try (Scripts scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 60, 1_000))) {
      DesignPrograms programs = new DesignPrograms(plain.transactions, 1 << 20);
      TestDatabase database =
          plain.writtenBy(
              new DocumentWriter(
                  plain.store,
                  plain.catalogue,
                  new WriteRules(false, EditRule.NONE, new ScriptJudge(programs, scripts))));
      database.put("_design/a", refusing("a"));
      database.put("_design/b", refusing("b"));
      String large = "\"x\":\"" + "x".repeat(2_000) + "\"}";
      List<EditOutcome> outcomes =
          database.write(
              List.of(
                  TestDatabase.edit("1", null, "{" + large),
                  TestDatabase.edit("2", null, "{\"a\":1," + large),
                  TestDatabase.edit("3", null, "{\"b\":1," + large)));
      TestDatabase.written(outcomes.get(0));
      assertThat(TestDatabase.error(outcomes.get(1))).isEqualTo(new LectusError.Forbidden("a"));
      assertThat(TestDatabase.error(outcomes.get(2))).isEqualTo(new LectusError.Forbidden("b"));
    }
  }
}
