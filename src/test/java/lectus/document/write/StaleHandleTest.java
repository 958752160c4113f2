package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.testing.TestDatabase.written;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.Range;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.testing.TestLayout;
import lectus.document.edit.Edit;
import lectus.document.edit.LocalEdit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.Fence;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two servers on one store. One administers databases; the other writes with outdated knowledge of
 * them, between its transactions and within one.
 */
class StaleHandleTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final FaultyStore otherServer = new FaultyStore(store);

  private final DocumentWriter writer =
      new DocumentWriter(
          otherServer.store(),
          new Catalogue(
              store,
              new TransactionRunner(store, TransactionLimits.DEFAULT),
              InstantSource.system()));

  @Test
  void a_database_created_again_under_its_name_is_the_one_written_to() {
    write("before");
    DatabaseHandle old = db.catalogue.open(db.name);
    createAgain();

    WriteResult result = write("a");

    assertWrittenToTheNewOne(result, old);
  }

  @Test
  void a_write_that_overtakes_its_database_being_created_again_goes_to_the_new_one() {
    write("before");
    DatabaseHandle old = db.catalogue.open(db.name);
    otherServer.beforeNextCommit(this::createAgain);

    WriteResult result = write("a");

    assertWrittenToTheNewOne(result, old);
  }

  @Test
  void a_write_to_a_database_that_is_deleted_meanwhile_is_not_found() {
    write("before");
    DatabaseHandle old = db.catalogue.open(db.name);
    otherServer.beforeNextCommit(() -> db.catalogue.delete(db.name));

    assertThatThrownBy(() -> write("a"))
        .isInstanceOfSatisfying(
            LectusException.class,
            e -> assertThat(e.error()).isInstanceOf(LectusError.NotFound.class));
    assertThat(isEmpty(old)).isTrue();
  }

  @Test
  void a_write_keeps_to_the_revs_limit_that_is_set_meanwhile() {
    RevisionId first = written(write("a").outcomes().get(0));
    otherServer.beforeNextCommit(() -> db.revsLimit(1));

    EditOutcome second =
        writer.write(db.name, List.of(edit("a", first, "{\"v\":1}"))).outcomes().get(0);

    assertThat(written(second).position()).isEqualTo(2);
    assertThat(db.winner("a").ancestors().count()).isZero();
    db.audit(1);
  }

  @Test
  void an_edit_that_is_overtaken_by_another_is_a_conflict() {
    RevisionId first = written(write("a").outcomes().get(0));
    otherServer.beforeNextCommit(() -> db.put("a", first, "{\"v\":1}"));

    EditOutcome outcome =
        writer.write(db.name, List.of(edit("a", first, "{\"v\":2}"))).outcomes().get(0);

    assertThat(error(outcome)).isInstanceOf(LectusError.Conflict.class);
    db.audit(1);
  }

  private WriteResult write(String id) {
    return writer.write(db.name, List.of(edit(id, null, "{}")));
  }

  private void createAgain() {
    db.catalogue.delete(db.name);
    db.catalogue.create(db.name, TestLayout.OPTIONS);
  }

  private void assertWrittenToTheNewOne(WriteResult result, DatabaseHandle old) {
    assertThat(result.outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
    assertThat(result.instance()).isNotEqualTo(old.instance());
    assertThat(db.leaves("a")).hasSize(1);
    db.audit(1);
    assertThat(isEmpty(old)).isTrue();
  }

  private boolean isEmpty(DatabaseHandle database) {
    return db.transactions.read(
        tx -> Awaiting.await(tx.getRange(Range.startsWith(database.prefix())).asList()).isEmpty());
  }

  /** Two servers, one of which takes over a task of the other's. */
  @Nested
  class Fenced {
    private final byte[] key =
        "a task of the test's".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    private final Fence fence = new Fence(key, new byte[] {1});

    @BeforeEach
    void hold() {
      set(fence);
    }

    @Test
    void an_edit_is_stored_while_its_fence_holds() {
      assertThat(written(outcomes(fenced("a")).get(0)).position()).isEqualTo(1);
    }

    @Test
    void of_a_batch_only_the_edits_whose_fence_is_lost_fail() {
      set(new Fence(key, new byte[] {2}));

      List<EditOutcome> outcomes =
          outcomes(edit("a", null, "{}"), fenced("b"), local(), edit("c", null, "{}"));

      written(outcomes.get(0));
      assertThat(error(outcomes.get(1)).error()).isEqualTo("fence_lost");
      assertThat(error(outcomes.get(2)).error()).isEqualTo("fence_lost");
      written(outcomes.get(3));
      assertThat(db.leaves("b")).isEmpty();
    }

    @Test
    void a_fence_that_is_lost_after_the_edits_were_planned_stops_its_own_alone() {
      otherServer.beforeNextCommit(() -> set(new Fence(key, new byte[] {2})));

      List<EditOutcome> outcomes = outcomes(fenced("a"), edit("b", null, "{}"));

      assertThat(error(outcomes.get(0))).isInstanceOf(LectusError.PreconditionFailed.class);
      written(outcomes.get(1));
      assertThat(db.leaves("a")).isEmpty();
    }

    private List<EditOutcome> outcomes(Edit... edits) {
      return writer.write(db.name, List.of(edits)).outcomes();
    }

    private Edit fenced(String id) {
      return edit(id, null, "{}").within(Optional.of(fence));
    }

    private Edit local() {
      return new LocalEdit("_local/checkpoint", 1, false, ExplodedBody.empty())
          .within(Optional.of(fence));
    }

    private void set(Fence other) {
      db.transactions.run(
          tx -> {
            tx.set(other.key(), other.value());
            return null;
          });
    }
  }
}
