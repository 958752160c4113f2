package lectus.document.write;

import static lectus.document.testing.TestDatabase.assertConflict;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.document.write.PendingEdits.WriteProgress;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A writer whose transactions are not committed, or whose commits have an unknown result. */
class FailingCommitsTest {
  private static final TransactionLimits THREE_TIMES =
      new TransactionLimits(2, Duration.ofMinutes(1));

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store sound = stores.fresh();
  private final TestDatabase db = TestDatabase.create(sound);
  private final FaultyStore faulty = new FaultyStore(sound);
  private final int before = faulty.commits();

  @Test
  void a_batch_that_loses_is_halved_until_it_does_not() {
    faulty.plan(Fault.NOT_COMMITTED, Fault.NOT_COMMITTED);

    assertThat(write(8).outcomes()).allMatch(EditOutcome.Written.class::isInstance);

    // Eight conflict, four conflict, then four commits of two each.
    assertThat(commits()).isEqualTo(6);
    db.audit(8);
  }

  @Test
  void single_documents_are_tried_again_and_again_but_not_forever() {
    faulty.plan(Fault.NOT_COMMITTED, Fault.NOT_COMMITTED);
    assertThat(write(1).outcomes()).allMatch(EditOutcome.Written.class::isInstance);
    assertThat(commits()).isEqualTo(3);

    faulty.plan(Collections.nCopies(3, Fault.NOT_COMMITTED).toArray(Fault[]::new));
    WriteResult result = write("other");

    assertThat(error(result.outcomes().get(0)))
        .isEqualTo(new LectusError.Unavailable("Too many edit the document at once.", 1));
    assertThat(result.last()).isEmpty();
    assertThat(result.instance()).isEqualTo(db.catalogue.open(db.name).instance());
    assertThat(commits()).isEqualTo(6);
    db.audit(1);
  }

  @Test
  void one_document_that_always_loses_does_not_spoil_the_others() {
    // Two conflict, then the first alone, three times.
    faulty.plan(Collections.nCopies(4, Fault.NOT_COMMITTED).toArray(Fault[]::new));

    List<EditOutcome> outcomes = write(2).outcomes();

    assertThat(error(outcomes.get(0))).isInstanceOf(LectusError.Unavailable.class);
    assertThat(outcomes.get(1)).isInstanceOf(EditOutcome.Written.class);
    db.audit(1);
  }

  @Test
  void a_store_that_is_too_busy_for_a_document_is_not_taken_for_contention() {
    faulty.plan(Collections.nCopies(3, Fault.TOO_OLD).toArray(Fault[]::new));

    assertThatThrownBy(() -> write(1))
        .isInstanceOfSatisfying(FDBException.class, e -> assertThat(e.getCode()).isEqualTo(1007));
    db.audit(0);
  }

  @Test
  void commits_that_are_not_answered_in_time_are_tried_again_and_then_given_up() {
    FaultyStore silent = new FaultyStore(sound, true);
    DocumentWriter writer =
        new DocumentWriter(silent.store(), db.catalogue, TransactionBudget.DEFAULT, THREE_TIMES);
    silent.plan(Fault.TIMED_OUT_AND_LOST);
    assertThat(writer.write(db.name, edits("d", 2)).outcomes())
        .as("a batch is halved")
        .allMatch(EditOutcome.Written.class::isInstance);

    silent.plan(Fault.NONE);
    silent.plan(Collections.nCopies(3, Fault.TIMED_OUT_AND_LOST).toArray(Fault[]::new));
    List<EditOutcome> outcomes =
        new DocumentWriter(
                silent.store(),
                db.catalogue,
                new TransactionBudget(4_000_000, 9_000_000, 1),
                THREE_TIMES)
            .write(db.name, edits("e", 3))
            .outcomes();
    assertThat(outcomes.get(0)).isInstanceOf(EditOutcome.Written.class);
    assertThat(outcomes.subList(1, 3))
        .as("nothing more is tried")
        .extracting(TestDatabase::error)
        .containsOnly(
            new LectusError.Unavailable(
                "The store did not answer in time; nothing was stored.", 1));
    db.audit(3);
  }

  @Test
  void an_unknown_result_of_a_store_that_has_none_is_told_and_never_tried_again() {
    TestStores.onlyEmbedded();
    for (Fault fault : List.of(Fault.UNKNOWN_BUT_STORED, Fault.UNKNOWN_AND_LOST)) {
      int commitsBefore = commits();
      faulty.plan(fault);

      assertThatThrownBy(() -> write(fault.name()))
          .isInstanceOfSatisfying(
              LectusException.class,
              e -> assertThat(e.error()).isInstanceOf(LectusError.InDoubt.class));

      assertThat(commits()).isEqualTo(commitsBefore + 1);
    }
    assertConflict(write(Fault.UNKNOWN_BUT_STORED.name()).outcomes().get(0));
    db.audit(1);
  }

  @Test
  void what_is_stored_already_is_told_when_a_later_transaction_fails() {
    faulty.plan(Fault.NONE, Fault.IO_ERROR);

    List<EditOutcome> outcomes =
        writer(new TransactionBudget(4_000_000, 9_000_000, 2))
            .write(db.name, edits("d", 6))
            .outcomes();

    assertThat(outcomes.subList(0, 2)).allMatch(EditOutcome.Written.class::isInstance);
    assertThat(outcomes.subList(2, 6))
        .allSatisfy(outcome -> assertThat(error(outcome)).isInstanceOf(LectusError.Internal.class));
    // If a failed commit may still land later, a last transaction makes sure that this one never
    // will.
    int settling = sound.mayAnswerUnknownResult() ? 1 : 0;
    assertThat(commits()).as("nothing more is tried").isEqualTo(2 + settling);
    db.audit(2);
  }

  @ParameterizedTest
  @CsvSource({"1031,The store does not answer.", "1007,The store is too busy."})
  void a_store_that_is_silent_half_way_is_unavailable_to_the_rest(int code, String reason) {
    List<EditGroup> documents = EditGroup.of(edits("d", 2), 0);
    DatabaseHandle handle = db.catalogue.open(db.name);
    WriteProgress progress = new WriteProgress(2);
    try (Transaction tx = db.store.database().createTransaction()) {
      progress.add(
          new CommitResult<>(
              new EditTransaction(
                  new DocumentWriter(db.store, db.catalogue),
                  tx,
                  db.name,
                  documents,
                  false,
                  List.of()),
              new byte[10]));
    }

    progress.failOrThrow(documents, new FDBException("", code));

    assertThat(progress.result(handle::instance).outcomes())
        .extracting(TestDatabase::error)
        .containsOnly(new LectusError.Unavailable(reason, 1));
  }

  @Test
  void an_error_that_no_retry_mends_ends_the_request() {
    faulty.plan(Fault.IO_ERROR);

    assertThatThrownBy(() -> write(3)).isInstanceOf(FDBException.class);
    db.audit(0);
  }

  @Test
  void an_atomic_request_is_tried_again_whole() {
    faulty.plan(Fault.NOT_COMMITTED);
    assertThat(writeAtomically("a").outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
    assertThat(commits()).isEqualTo(2);

    faulty.plan(Collections.nCopies(3, Fault.NOT_COMMITTED).toArray(Fault[]::new));
    assertThatThrownBy(() -> writeAtomically("b"))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isInstanceOf(LectusError.Unavailable.class));
    db.audit(3);
  }

  private WriteResult writeAtomically(String prefix) {
    return writer(TransactionBudget.DEFAULT).writeAtomically(db.name, edits(prefix, 3));
  }

  private WriteResult write(int documents) {
    return writer(TransactionBudget.DEFAULT).write(db.name, edits("d", documents));
  }

  private WriteResult write(String id) {
    return writer(TransactionBudget.DEFAULT).write(db.name, List.of(edit(id, null, "{}")));
  }

  private DocumentWriter writer(TransactionBudget budget) {
    return new DocumentWriter(faulty.store(), db.catalogue, budget, THREE_TIMES);
  }

  private static List<Edit> edits(String prefix, int count) {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      edits.add(edit(prefix + i, null, "{}"));
    }
    return edits;
  }

  private int commits() {
    return faulty.commits() - before;
  }
}
