package lectus.document.write;

import static lectus.document.testing.TestDatabase.assertConflict;
import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.testing.TestDatabase.replicated;
import static lectus.document.testing.TestDatabase.written;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.testing.TestDatabase;
import lectus.document.testing.WinnerRow;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.OtherLeaves;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 001, Update Path, case by case; the whole database is audited after each. */
class RevisionModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private int documents = 1;

  @AfterEach
  void audit() {
    db.audit(documents);
  }

  @Test
  void new_document() {
    RevisionId first = db.put("a", "{\"v\":1}");

    assertThat(first.position()).isEqualTo(1);
    assertThat(db.leaves("a")).containsExactly(first.toString());
    assertThat(db.winner("a").ancestors().count()).isZero();
    assertThat(db.allDocsRow("a")).contains(new AllDocsRow("a", first, 1));
  }

  @Test
  void new_document_over_a_live_one_is_a_conflict() {
    db.put("a", "{\"v\":1}");

    assertConflict(db.write(edit("a", null, "{\"v\":2}")));
  }

  @Test
  void base_of_a_document_never_written_is_a_conflict() {
    assertConflict(db.write(edit("other", RevisionId.of("1-abc"), "{}")));
    assertConflict(db.write(deletion("other", RevisionId.of("1-abc"))));
    db.put("a", "{}");
  }

  @Test
  void extending_the_winner_keeps_its_history() {
    RevisionId first = db.put("a", "{\"v\":1}");
    RevisionId second = db.put("a", first, "{\"v\":2}");
    RevisionId third = db.put("a", second, "{\"v\":3}");

    assertThat(db.winner("a").path()).containsExactly(third, second, first);
    assertConflict(db.write(edit("a", second, "{\"v\":4}")));
    assertConflict(db.write(edit("a", RevisionId.of("3-abc"), "{\"v\":4}")));
    assertThat(db.leaves("a")).containsExactly(third.toString());
  }

  @Test
  void deleting_the_only_branch_leaves_a_plain_tombstone() {
    RevisionId first = db.put("a", "{\"v\":1}");
    RevisionId tombstone = db.delete("a", first);

    assertThat(db.leaves("a")).containsExactly("(" + tombstone + ")");
    assertThat(db.winner("a").body()).isEqualTo(BodySize.NONE);
    assertThat(db.allDocsRow("a")).isEmpty();
    assertThat(db.statistics().documents()).isZero();
    assertThat(db.statistics().deletedDocuments()).isEqualTo(1);
    assertThat(db.statistics().activeBytes()).isZero();
  }

  @Test
  void tombstone_with_members_keeps_them() {
    RevisionId first = db.put("a", "{\"v\":1}");
    db.put("a", first, "{\"_deleted\":true,\"why\":\"spam\"}");

    assertThat(db.winner("a").deleted()).isTrue();
    assertThat(db.winner("a").body().external()).isEqualTo("{\"why\":\"spam\"}".length());
  }

  @Test
  void extending_a_tombstone_is_a_conflict() {
    RevisionId tombstone = db.delete("a", db.put("a", "{}"));

    assertConflict(db.write(edit("a", tombstone, "{\"v\":1}")));
    assertConflict(db.write(deletion("a", tombstone)));
  }

  @Test
  void extending_a_tombstone_is_a_conflict_beside_a_live_branch_too() {
    db.replicate("a", "{}", "1-a");
    db.replicate("a", "{\"_deleted\":true}", "2-b");

    assertConflict(db.write(edit("a", RevisionId.of("2-b"), "{\"v\":1}")));
    assertThat(db.leaves("a")).containsExactly("1-a", "(2-b)");
  }

  @Test
  void new_document_over_a_deleted_one_goes_on_from_the_tombstone() {
    RevisionId first = db.put("a", "{\"v\":1}");
    RevisionId tombstone = db.put("a", first, "{\"_deleted\":true,\"why\":\"spam\"}");
    RevisionId revived = db.put("a", "{\"v\":2}");

    assertThat(db.winner("a").path()).containsExactly(revived, tombstone, first);
    assertThat(db.branches("a")).hasSize(1);
    assertThat(db.statistics().documents()).isEqualTo(1);
    assertThat(db.statistics().deletedDocuments()).isZero();
  }

  @Test
  void new_document_over_tombstones_goes_on_from_the_winning_one() {
    db.replicate("a", "{\"_deleted\":true}", "2-low");
    db.replicate("a", "{\"_deleted\":true}", "3-high");
    RevisionId revived = db.put("a", "{\"v\":2}");

    assertThat(revived.position()).isEqualTo(4);
    assertThat(db.leaves("a")).containsExactly(revived.toString(), "(2-low)");
    assertThat(db.winner("a").winner().branchCount()).isEqualTo(2);
  }

  @Test
  void deletion_without_a_base_makes_the_first_revision_only() {
    InteractiveEdit deletion = InteractiveEdit.deletion("a", Optional.empty());
    RevisionId tombstone = written(db.write(deletion));

    assertThat(db.leaves("a")).containsExactly("(" + tombstone + ")");
    assertConflict(db.write(deletion));
    RevisionId revived = db.put("a", "{}");
    assertConflict(db.write(deletion));
    assertThat(db.leaves("a")).containsExactly(revived.toString());
  }

  @Test
  void extending_a_losing_branch_that_stays_losing() {
    db.replicate("a", "{}", "1-a");
    db.replicate("a", "{}", "5-e");
    RevisionId child = db.put("a", RevisionId.of("1-a"), "{\"v\":1}");

    assertThat(db.leaves("a")).containsExactly("5-e", child.toString());
    assertThat(db.changes()).hasSize(1);
    assertThat(db.changes().get(0).winner()).isEqualTo(RevisionId.of("5-e"));
  }

  @Test
  void extending_a_losing_branch_that_wins_now() {
    db.replicate("a", "{}", "1-a");
    db.replicate("a", "{}", "1-b");
    RevisionId child = db.put("a", RevisionId.of("1-a"), "{\"v\":1}");

    assertThat(db.leaves("a")).containsExactly(child.toString(), "1-b");
    assertThat(db.changes().get(0).winner()).isEqualTo(child);
  }

  @Test
  void deleting_a_losing_branch_leaves_the_winner() {
    db.replicate("a", "{}", "1-a");
    db.replicate("a", "{}", "1-b");
    db.replicate("a", "{}", "1-c");
    RevisionId tombstone = db.delete("a", RevisionId.of("1-b"));

    assertThat(db.leaves("a")).containsExactly("1-c", "1-a", "(" + tombstone + ")");
    assertThat(db.winner("a").winner().branchCount()).isEqualTo(3);
  }

  @Test
  void deleting_the_winner_promotes_the_next_live_branch() {
    db.replicate("a", "{\"v\":\"a\"}", "1-a");
    db.replicate("a", "{\"v\":\"b\"}", "1-b");
    db.replicate("a", "{\"v\":\"c\"}", "1-c");
    RevisionId tombstone = db.delete("a", RevisionId.of("1-c"));

    assertThat(db.leaves("a")).containsExactly("1-b", "1-a", "(" + tombstone + ")");
    assertThat(db.allDocsRow("a")).contains(new AllDocsRow("a", RevisionId.of("1-b"), 3));
  }

  @Test
  void deleting_the_last_live_branch_lets_the_higher_tombstone_win() {
    db.replicate("a", "{}", "3-a");
    db.replicate("a", "{\"_deleted\":true}", "9-z");
    RevisionId tombstone = db.delete("a", RevisionId.of("3-a"));
    assertThat(db.leaves("a")).containsExactly("(9-z)", "(" + tombstone + ")");

    db.replicate("a", "{}", "12-l");
    RevisionId higher = db.delete("a", RevisionId.of("12-l"));
    assertThat(db.leaves("a")).containsExactly("(" + higher + ")", "(9-z)", "(" + tombstone + ")");
    assertThat(db.changes().get(0).deleted()).isTrue();
  }

  @Test
  void every_edit_moves_the_one_change_to_the_end() {
    RevisionId first = db.put("a", "{}");
    ChangeEntry before = db.changes().get(0);
    db.put("a", first, "{\"v\":1}");

    assertThat(db.changes()).hasSize(1);
    assertThat(db.changes().get(0).sequence()).isGreaterThan(before.sequence());
  }

  @Test
  void an_interactive_tombstone_that_a_replicator_brought_already_joins_it() {
    db.replicate("a", "{}", "1-a");
    String sameTombstone =
        written(TestDatabase.create(stores.fresh()).write(replicaThenDelete()).get(1)).toString();
    db.replicate("a", "{\"_deleted\":true}", sameTombstone);
    assertThat(db.leaves("a")).containsExactly("1-a", "(" + sameTombstone + ")");

    assertThat(db.delete("a", RevisionId.of("1-a"))).hasToString(sameTombstone);

    assertThat(db.leaves("a")).containsExactly("(" + sameTombstone + ")");
    assertThat(db.winner("a").isAncestor(RevisionId.of("1-a"))).isTrue();
    assertThat(db.winner("a").winner().branchCount()).isEqualTo(1);
  }

  private static List<Edit> replicaThenDelete() {
    return List.of(replicated("a", "{}", "1-a"), deletion("a", RevisionId.of("1-a")));
  }

  @Test
  void an_interactive_child_of_a_losing_branch_that_is_there_already_joins_it() {
    TestDatabase elsewhere = TestDatabase.create(stores.fresh());
    elsewhere.replicate("a", "{}", "1-a");
    RevisionId child = elsewhere.put("a", RevisionId.of("1-a"), "{\"v\":1}");
    db.replicate("a", "{}", "1-a");
    db.replicate("a", "{}", "9-z");
    db.replicate("a", "{\"v\":1}", child.toString());
    assertThat(db.leaves("a")).containsExactly("9-z", child.toString(), "1-a");

    assertThat(db.put("a", RevisionId.of("1-a"), "{\"v\":1}")).isEqualTo(child);

    assertThat(db.leaves("a")).containsExactly("9-z", child.toString());
    assertThat(db.winner("a").winner().branchCount()).isEqualTo(2);
  }

  /**
   * Whatever branches a document has: an edit whose revision a replicator brought without history
   * joins it, and no other edit is taken for that.
   */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void edits_that_make_revisions_which_may_be_there(long seed) {
    Random random = new Random(seed);
    int joined = 0;
    for (int i = 0; i < 60; i++) {
      joined += editOfARevisionThatMayBeThere("doc" + i, random) ? 1 : 0;
    }
    assertThat(joined).isBetween(10, 50);
    documents = 60;
  }

  private boolean editOfARevisionThatMayBeThere(String id, Random random) {
    RevisionTreeModel model = new RevisionTreeModel();
    int most = random.nextInt(20) > 0 ? 5 : OtherLeaves.MOST + 5;
    for (int branches = 1 + random.nextInt(most); branches > 0; branches--) {
      boolean tombstone = random.nextInt(3) == 0;
      String leaf = "%d-%032x".formatted(1 + random.nextInt(3), random.nextInt(1_000_000));
      arrive(id, model, RevisionId.of(leaf), tombstone);
    }
    List<RevisionId> live = model.leaves().stream().filter(it -> !model.isDeleted(it)).toList();
    if (live.isEmpty()) {
      return false;
    }
    RevisionId base = live.get(random.nextInt(live.size()));
    boolean deletes = random.nextBoolean();
    InteractiveEdit edit =
        edit(id, base, "{\"v\":" + random.nextInt() + (deletes ? ",\"_deleted\":true}" : "}"));
    RevisionId child = edit.child(Optional.of(base));
    boolean isThere = random.nextBoolean();
    if (isThere) {
      db.write(new ReplicatedEdit(id, new RevisionPath(child, List.of()), deletes, edit.body()));
      model.merge(List.of(child), deletes);
    }
    if (random.nextInt(3) == 0) {
      WinnerRow.unlist(db, id);
    }

    assertThat(written(db.write(edit))).isEqualTo(child);

    model.merge(List.of(child, base), deletes);
    assertThat(db.branches(id).stream().map(EditBranch::leaf))
        .containsExactlyElementsOf(model.leaves());
    assertThat(db.winner(id).winner().branchCount()).isEqualTo(model.leaves().size());
    return isThere;
  }

  private void arrive(String id, RevisionTreeModel model, RevisionId leaf, boolean deleted) {
    String json = deleted ? "{\"_deleted\":true}" : "{\"of\":\"" + leaf + "\"}";
    db.replicate(id, json, leaf.toString());
    model.merge(List.of(leaf), deleted);
  }

  @Test
  void second_interactive_edit_of_a_request_sees_the_first() {
    List<EditOutcome> outcomes =
        db.write(
            List.of(
                edit("a", null, "{\"v\":1}"),
                edit("a", null, "{\"v\":2}"),
                edit("a", null, "{\"_deleted\":true}")));

    RevisionId first = written(outcomes.get(0));
    assertConflict(outcomes.get(1));
    assertConflict(outcomes.get(2));
    assertThat(db.leaves("a")).containsExactly(first.toString());
  }

  @Test
  void a_request_whose_second_edit_extends_the_first() {
    RevisionId first = db.put("a", "{\"v\":1}");
    TestDatabase elsewhere = TestDatabase.create(stores.fresh());
    RevisionId second = elsewhere.put("a", elsewhere.put("a", "{\"v\":1}"), "{\"v\":2}");

    List<EditOutcome> outcomes =
        db.write(List.of(edit("a", first, "{\"v\":2}"), edit("a", second, "{\"v\":3}")));

    assertThat(written(outcomes.get(0))).isEqualTo(second);
    assertThat(written(outcomes.get(1)).position()).isEqualTo(3);
  }

  @Test
  void edits_of_other_documents_are_no_matter_to_a_failing_one() {
    RevisionId first = db.put("a", "{\"v\":1}");
    db.put("a", first, "{\"v\":2}");
    TestDatabase both = TestDatabase.create(stores.fresh());
    RevisionId base = both.put("a", "{}");

    List<EditOutcome> outcomes =
        both.write(
            List.of(
                edit("b", null, "{}"),
                edit("a", RevisionId.of("1-x"), "{}"),
                edit("a", base, "{\"v\":1}"),
                edit("c", null, "{}")));

    assertConflict(outcomes.get(1));
    assertThat(List.of(outcomes.get(0), outcomes.get(2), outcomes.get(3)))
        .allMatch(EditOutcome.Written.class::isInstance);
    both.audit(3);
  }

  @Test
  void outcomes_name_the_highest_sequence_and_the_instance() {
    WriteResult result =
        db.writer.write(db.name, List.of(edit("a", null, "{}"), edit("a", null, "{}")));

    assertThat(result.last()).contains(db.changes().get(0).sequence());
    assertThat(result.instance()).isEqualTo(db.catalogue.open(db.name).instance());
    assertThat(result.outcomes()).anyMatch(EditOutcome.Failed.class::isInstance);
    assertThat(db.writer.write(db.name, List.of(edit("a", null, "{}"))).last()).isEmpty();
  }

  @Test
  void a_database_that_does_not_exist_is_not_found() {
    db.put("a", "{}");
    DatabaseName nowhere = DatabaseName.of("nowhere");

    for (List<Edit> edits : List.of(List.<Edit>of(), List.<Edit>of(edit("a", null, "{}")))) {
      assertThatThrownBy(() -> db.writer.write(nowhere, edits))
          .isInstanceOfSatisfying(
              LectusException.class,
              e -> assertThat(e.error()).isInstanceOf(LectusError.NotFound.class));
    }
  }

  @Test
  void failures_of_replicated_edits_name_their_revision() {
    TestDatabase small =
        SmallTransactions.create(stores.fresh(), "small", new TransactionBudget(1_000, 2_000, 10));
    EditOutcome outcome =
        small.replicate("a", "{\"v\":\"" + "x".repeat(3_000) + "\"}", "2-b", "1-a");

    assertThat(error(outcome)).isInstanceOf(LectusError.TooLarge.class);
    assertThat(((EditOutcome.Failed) outcome).revision()).contains(RevisionId.of("2-b"));
    small.audit(0);
    db.put("a", "{}");
  }

  /**
   * One document as CouchDB's users imagine it: a whole tree of revisions. Deliberately naive, and
   * without anything in common with edit branches.
   */
  static final class RevisionTreeModel {
    private final Map<RevisionId, Node> nodes = new HashMap<>();

    private static final class Node {
      private RevisionId parent;
      private final boolean deleted;

      private Node(RevisionId parent, boolean deleted) {
        this.parent = parent;
        this.deleted = deleted;
      }
    }

    /** Returns all revisions ever added, in a fixed order. */
    List<RevisionId> revisions() {
      return nodes.keySet().stream().sorted().toList();
    }

    /** Returns the leaves, the winner first. */
    List<RevisionId> leaves() {
      Set<RevisionId> leaves = new HashSet<>(nodes.keySet());
      nodes.values().forEach(node -> leaves.remove(node.parent));
      List<RevisionId> sorted = new ArrayList<>(leaves);
      sorted.sort(
          Comparator.comparing(this::isDeleted)
              .thenComparing(Comparator.comparing((RevisionId it) -> it).reversed()));
      return sorted;
    }

    boolean isDeleted(RevisionId revision) {
      return nodes.get(revision).deleted;
    }

    /** Returns the revision, then its ancestors, newest first. */
    List<RevisionId> path(RevisionId revision) {
      List<RevisionId> path = new ArrayList<>();
      for (RevisionId at = revision; at != null; at = nodes.get(at).parent) {
        path.add(at);
      }
      return path;
    }

    /** Returns the parent for an interactive edit; empty if the edit is a conflict. */
    Optional<Parent> parentFor(Optional<RevisionId> base, boolean deletion) {
      List<RevisionId> leaves = leaves();
      if (base.isPresent()) {
        boolean isLiveLeaf = leaves.contains(base.get()) && !isDeleted(base.get());
        return isLiveLeaf ? Optional.of(new Parent(base)) : Optional.empty();
      }
      if (leaves.isEmpty()) {
        return Optional.of(new Parent(Optional.empty()));
      }
      return isDeleted(leaves.get(0)) && !deletion
          ? Optional.of(new Parent(Optional.of(leaves.get(0))))
          : Optional.empty();
    }

    /** A revision to extend, or the root. */
    record Parent(Optional<RevisionId> revision) {
      long position() {
        return revision.map(RevisionId::position).orElse(0L);
      }
    }

    void add(RevisionId revision, Parent parent, boolean deleted) {
      nodes.put(revision, new Node(parent.revision().orElse(null), deleted));
    }

    /** Removes a leaf, and those of its ancestors that have no other descendants. */
    void purge(RevisionId leaf) {
      RevisionId at = leaf;
      while (at != null && !isParent(at)) {
        at = nodes.remove(at).parent;
      }
    }

    private boolean isParent(RevisionId revision) {
      return nodes.values().stream().anyMatch(node -> revision.equals(node.parent));
    }

    /** Adds the missing revisions of a path, and connects existing ones. */
    void merge(List<RevisionId> path, boolean deleted) {
      for (int i = path.size() - 1; i >= 0; i--) {
        RevisionId parent = i + 1 < path.size() ? path.get(i + 1) : null;
        boolean isTombstone = i == 0 && deleted;
        Node node = nodes.computeIfAbsent(path.get(i), it -> new Node(parent, isTombstone));
        node.parent = node.parent == null ? parent : node.parent;
      }
    }
  }
}
