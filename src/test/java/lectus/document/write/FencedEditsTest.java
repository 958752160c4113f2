package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.testing.TestDatabase.written;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.document.edit.Edit;
import lectus.document.edit.LocalEdit;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.json.ExplodedBody;
import lectus.store.FaultyStore;
import lectus.store.Fence;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two servers, one of which takes over a task of the other's. */
final class FencedEditsTest {
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
