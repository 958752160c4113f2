package lectus.document.write;

import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.replicated;
import static lectus.document.testing.TestDatabase.written;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.RevisionModelTest.RevisionTreeModel;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random interactive and replicated edits and purges on three databases that replicate from each
 * other, with whole and with shortened histories, compared with {@link RevisionTreeModel}.
 */
class RandomEditsTest {
  private static final int FIXED_SEEDS = 14;
  private static final int STEPS = 60;

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final List<Replica> replicas = new ArrayList<>();
  private Random random;
  private int serial;

  private static final class Replica {
    private final TestDatabase database;
    private final Map<String, RevisionTreeModel> documents = new HashMap<>();

    private Replica(TestDatabase database) {
      this.database = database;
    }

    private RevisionTreeModel document(String id) {
      return documents.computeIfAbsent(id, it -> new RevisionTreeModel());
    }
  }

  /** Fixed seeds, and one that is new in every run; a failing test's name tells it. */
  static LongStream seeds() {
    return LongStream.concat(
        LongStream.range(0, FIXED_SEEDS), LongStream.of(System.nanoTime() & 0xffff_ffffL));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void databases_hold_what_the_model_holds(long seed) {
    random = new Random(seed);
    Store store = stores.fresh();
    for (String name : List.of("x", "y", "z")) {
      replicas.add(
          new Replica(
              SmallTransactions.create(store, name, new TransactionBudget(4_000, 9_000, 5))));
    }

    for (int step = 0; step < STEPS; step++) {
      Replica replica = any(replicas);
      switch (random.nextInt(7)) {
        case 0 -> interactive(replica, Optional.empty());
        case 1, 2, 3 -> interactive(replica, Optional.of(any(List.of("a", "b", "c"))));
        case 6 -> purge(replica, any(List.of("a", "b", "c")));
        default -> replicate(any(replicas), replica);
      }
    }

    replicas.forEach(RandomEditsTest::compare);
  }

  /**
   * @param extended the document whose revision is extended; empty for no base
   */
  private void interactive(Replica replica, Optional<String> extended) {
    String id = extended.orElseGet(() -> any(List.of("a", "b", "c")));
    RevisionTreeModel model = replica.document(id);
    Optional<RevisionId> base = extended.isPresent() ? anyRevision(model) : Optional.empty();
    boolean deletion = random.nextInt(3) == 0;
    // Serial numbers keep edits from making a revision that is known without its history.
    String json = "{\"serial\":" + serial++ + (deletion ? ",\"_deleted\":true}" : "}");

    EditOutcome outcome = replica.database.write(edit(id, base.orElse(null), json));

    Optional<RevisionTreeModel.Parent> parent = model.parentFor(base, deletion);
    if (parent.isEmpty()) {
      TestDatabase.assertConflict(outcome);
    } else {
      RevisionId revision = written(outcome);
      assertThat(revision.position()).isEqualTo(parent.get().position() + 1);
      assertThat(model.revisions()).doesNotContain(revision);
      model.add(revision, parent.get(), deletion);
    }
  }

  /** What is no leaf stays. */
  private void purge(Replica replica, String id) {
    RevisionTreeModel model = replica.document(id);
    Set<RevisionId> named = new HashSet<>(List.of(RevisionId.of("1-unknown")));
    for (RevisionId revision : model.revisions()) {
      if (random.nextInt(3) == 0) {
        named.add(revision);
      }
    }
    List<RevisionId> leaves = model.leaves().stream().filter(named::contains).toList();

    EditOutcome outcome = replica.database.write(Purging.of(id, named));

    assertThat(outcome).isEqualTo(new EditOutcome.Purged(id, leaves));
    leaves.forEach(model::purge);
  }

  /** Returns usually a leaf, else any revision; an unknown one for a document without revisions. */
  private Optional<RevisionId> anyRevision(RevisionTreeModel model) {
    List<RevisionId> leaves = model.leaves();
    if (leaves.isEmpty()) {
      return Optional.of(RevisionId.of("1-unknown"));
    }
    return Optional.of(any(random.nextInt(4) > 0 ? leaves : model.revisions()));
  }

  private void replicate(Replica source, Replica target) {
    List<ReplicatedEdit> edits = new ArrayList<>();
    for (String id : List.of("a", "b", "c")) {
      RevisionTreeModel from = source.document(id);
      for (RevisionId leaf : from.leaves()) {
        if (random.nextInt(3) > 0) {
          edits.add(arrival(id, from, leaf, target.document(id)));
        }
      }
    }
    target
        .database
        .write(edits)
        .forEach(
            outcome ->
                assertThat(outcome)
                    .isInstanceOfAny(EditOutcome.Written.class, EditOutcome.Unchanged.class));
  }

  private ReplicatedEdit arrival(
      String id, RevisionTreeModel from, RevisionId leaf, RevisionTreeModel to) {
    List<RevisionId> path = from.path(leaf);
    if (random.nextInt(4) == 0) {
      path = path.subList(0, 1 + random.nextInt(path.size()));
    }
    to.merge(path, from.isDeleted(leaf));
    String json = "{\"of\":\"" + leaf + "\"" + (from.isDeleted(leaf) ? ",\"_deleted\":true}" : "}");
    return replicated(id, json, path.stream().map(RevisionId::toString).toArray(String[]::new));
  }

  private static void compare(Replica replica) {
    Map<String, ChangeEntry> changes = new HashMap<>();
    replica.database.changes().forEach(entry -> changes.put(entry.docId(), entry));
    int documents = 0;
    for (Map.Entry<String, RevisionTreeModel> document : replica.documents.entrySet()) {
      List<RevisionId> leaves = document.getValue().leaves();
      List<EditBranch> branches = replica.database.branches(document.getKey());
      assertThat(branches.stream().map(EditBranch::leaf)).containsExactlyElementsOf(leaves);
      for (EditBranch branch : branches) {
        assertThat(branch.deleted()).isEqualTo(document.getValue().isDeleted(branch.leaf()));
        assertThat(document.getValue().path(branch.leaf()))
            .as("known history of " + branch.leaf())
            .startsWith(branch.path().toArray(RevisionId[]::new));
      }
      if (!leaves.isEmpty()) {
        documents++;
        assertThat(changes.get(document.getKey()).winner()).isEqualTo(leaves.get(0));
      }
    }
    assertThat(changes).hasSize(documents);
    replica.database.audit(documents);
  }

  private <T> T any(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }
}
