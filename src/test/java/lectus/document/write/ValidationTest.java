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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.UserContext;
import lectus.database.ValidatorsSubspace;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Databases with a design document that asks for every write to be validated. */
class ValidationTest {
  private static final String VALIDATES = "{\"validate_doc_update\":\"function () {}\"}";
  private static final String DESIGN = "_design/auth";

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final FaultyStore otherServer = new FaultyStore(store);
  private final TestDatabase elsewhere =
      db.writtenBy(
          new DocumentWriter(
              otherServer.store(),
              new Catalogue(
                  store,
                  new TransactionRunner(store, TransactionLimits.DEFAULT),
                  InstantSource.system())));

  private static void assertRefused(EditOutcome outcome) {
    assertThat(error(outcome))
        .isInstanceOfSatisfying(
            LectusError.NotImplemented.class,
            refused ->
                assertThat(refused.reason())
                    .contains(DESIGN)
                    .contains("documents.ignore-validate-doc-update"));
  }

  @Test
  void interactive_edits_are_refused_whatever_they_do() {
    RevisionId first = db.put("a", "{}");
    db.put(DESIGN, VALIDATES);

    assertRefused(db.write(edit("b", null, "{}")));
    assertRefused(db.write(edit("a", first, "{\"v\":1}")));
    assertRefused(db.write(deletion("a", first)));
    assertThat(db.leaves("a")).containsExactly(first.toString());
    db.audit(2);
  }

  @Test
  void what_validation_does_not_concern_is_written() {
    RevisionId validator = db.put(DESIGN, VALIDATES);

    written(db.write(edit("_design/other", null, "{}")));
    written(db.write(local("_local/x", "0-0", "{}")));
    written(db.replicate("a", "{}", "1-a"));
    written(db.replicate("_design/replicated", VALIDATES, "1-a"));
    db.audit(4);

    db.delete(DESIGN, validator);
    assertThat(handle().validator()).contains("_design/replicated");
    db.delete("_design/replicated", RevisionId.of("1-a"));
    db.put("b", "{}");
    db.audit(5);
  }

  @Test
  void replicated_edits_need_the_right_of_an_admin_unless_they_are_known() {
    db.replicate("known", "{}", "2-b", "1-a");
    db.put(DESIGN, VALIDATES);
    db.catalogue.secure(
        db.name, TestDatabase.utf8("{\"admins\":{\"names\":[\"ann\"]},\"members\":{}}"));
    UserContext ann = UserContext.named("ann", Set.of());
    UserContext bob = UserContext.named("bob", Set.of());

    for (String body : List.of("{}", "{\"_deleted\":true}")) {
      assertThat(error(db.write(replicated("a", body, "1-a").by(bob))))
          .isInstanceOf(LectusError.Forbidden.class);
      assertThat(error(db.write(replicated("a", body, "1-a").by(UserContext.ANONYMOUS))))
          .isInstanceOf(LectusError.Forbidden.class);
    }
    assertThat(db.write(replicated("known", "{}", "2-b", "1-a").by(bob)))
        .isInstanceOf(EditOutcome.Unchanged.class);
    assertThat(error(db.write(replicated("known", "{}", "3-c", "2-b").by(bob))))
        .isInstanceOf(LectusError.Forbidden.class);
    written(db.write(replicated("a", "{}", "1-a").by(ann)));
    written(
        db.write(
            replicated("b", "{}", "1-a")
                .by(UserContext.named("root", Set.of(UserContext.SERVER_ADMIN)))));
    DocumentWriter ignoring =
        new DocumentWriter(store, db.catalogue, WriteRules.ignoringValidation(true));
    written(db.writtenBy(ignoring).write(replicated("c", "{}", "1-a").by(bob)));
    db.audit(5);
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
        db.writtenBy(new DocumentWriter(store, db.catalogue, WriteRules.ignoringValidation(true)))
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
    assertRefused(db.write(edit("b", null, "{}")));

    rev = db.put(DESIGN, rev, "{\"views\":{}}");

    db.put("b", "{}");
    db.delete(DESIGN, rev);
    db.audit(3);
  }

  @Test
  void the_winner_decides_however_it_came_to_win() {
    db.replicate(DESIGN, "{}", "2-b");
    db.replicate(DESIGN, VALIDATES, "1-a");
    assertThat(handle().validator()).isEmpty();

    RevisionId tombstone = db.delete(DESIGN, RevisionId.of("2-b"));
    assertThat(handle().validator()).contains(DESIGN);
    assertRefused(db.write(edit("x", null, "{}")));

    db.replicate(DESIGN, "{}", "2-z");
    assertThat(handle().validator()).isEmpty();
    db.put(DESIGN, RevisionId.of("1-a"), VALIDATES.replace("()", "(doc)"));
    db.replicate(DESIGN, VALIDATES, "3-z", "2-z");
    assertThat(handle().validator()).contains(DESIGN);
    db.replicate(DESIGN, "{\"_deleted\":true}", "9-z", tombstone.toString());
    assertThat(handle().validator()).contains(DESIGN);
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
    db.delete(DESIGN, validator);
    db.audit(2);
  }

  private void list(String docId, boolean validates) {
    DatabaseHandle handle = handle();
    db.transactions.run(
        tx -> {
          new ValidatorsSubspace(handle.prefix()).set(tx, docId, validates);
          db.catalogue.moveVersion(tx, handle);
          return null;
        });
  }

  private DatabaseHandle handle() {
    return db.catalogue.open(db.name);
  }
}
