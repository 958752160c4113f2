package lectus.audit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.document.list.AllDocsSubspace.AllDocsRow;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.EditBranch.Winner;
import lectus.revision.OtherLeaves;

/** Checks the invariants of a document, whatever happened to the transactions that wrote it. */
final class DocumentCheck {
  /** Documents with more branches are not checked for leaves that are ancestors of others. */
  private static final int MAX_COMPARED = 1_000;

  private final StoredDocument document;
  private final List<String> problems;

  private DocumentCheck(StoredDocument document) {
    this.document = document;
    this.problems = new ArrayList<>(document.defects());
  }

  /** Returns what is wrong with a document by itself. Empty if nothing is. */
  static List<String> of(StoredDocument document) {
    DocumentCheck check = new DocumentCheck(document);
    check.checkBranches();
    check.checkBodies();
    check.checkRow();
    check.checkValidation();
    return check.problems;
  }

  /**
   * Returns what is wrong with a document's entry in the changes index, read at its expected key.
   */
  static List<String> ofEntry(EditBranch winner, Optional<ChangeEntry> found) {
    List<String> problems = new ArrayList<>();
    if (found.isEmpty()) {
      problems.add("the changes index has no entry at " + winner.winner().sequence());
      return problems;
    }
    ChangeEntry entry = found.get();
    if (!entry.winner().equals(winner.leaf())) {
      problems.add("its change names " + entry.winner() + ", but the winner is " + winner.leaf());
    }
    if (entry.deleted() != winner.deleted()) {
      problems.add("its change says that it is " + (entry.deleted() ? "" : "not ") + "deleted");
    }
    if (entry.branchCount() != winner.winner().branchCount()) {
      problems.add(
          "its change counts "
              + entry.branchCount()
              + " branches, but its winner "
              + winner.winner().branchCount());
    }
    return problems;
  }

  private void checkBranches() {
    List<EditBranch> branches = document.branches();
    if (branches.isEmpty()) {
      problems.add("it has no edit branch");
      return;
    }
    EditBranch winner = branches.get(0);
    if (!winner.isWinner()) {
      problems.add("its highest branch " + winner.leaf() + " is not marked as the winner");
    } else if (winner.winner().branchCount() != branches.size()) {
      problems.add(
          "its winner counts "
              + winner.winner().branchCount()
              + " branches, there are "
              + branches.size());
    } else if (!listsOthers(winner.winner(), branches.subList(1, branches.size()))) {
      problems.add("its winner does not list the leaves of the other branches as they are");
    }
    for (EditBranch branch : branches.subList(1, branches.size())) {
      if (branch.isWinner()) {
        problems.add("its branch " + branch.leaf() + " is marked as a winner beside another");
      }
    }
    if (branches.size() <= MAX_COMPARED) {
      checkAncestors(branches);
    }
  }

  /** A winner need not list them. */
  private static boolean listsOthers(Winner winner, List<EditBranch> others) {
    return winner.others().isEmpty() || winner.others().equals(OtherLeaves.of(others));
  }

  private void checkAncestors(List<EditBranch> branches) {
    for (EditBranch branch : branches) {
      if (branches.stream().anyMatch(other -> other.isAncestor(branch.leaf()))) {
        problems.add("its leaf " + branch.leaf() + " is an ancestor of another");
      }
    }
  }

  private void checkBodies() {
    Map<StoredDocument.Leaf, BodySize> left = new LinkedHashMap<>(document.bodies());
    for (EditBranch branch : document.branches()) {
      StoredDocument.Leaf leaf = new StoredDocument.Leaf(branch.deleted(), branch.leaf());
      checkBody(leaf, branch, Optional.ofNullable(left.remove(leaf)));
    }
    left.keySet()
        .forEach(leaf -> problems.add("a body is left of " + leaf + ", which is not a leaf"));
  }

  private void checkBody(StoredDocument.Leaf leaf, EditBranch branch, Optional<BodySize> stored) {
    if (stored.isEmpty()) {
      if (branch.body().isStored() || !branch.deleted()) {
        problems.add("the body of " + leaf + " is missing");
      }
      return;
    }
    if (!stored.get().equals(branch.body())) {
      problems.add(
          "the body of "
              + leaf
              + " has "
              + text(stored.get())
              + ", its branch says "
              + text(branch.body()));
    }
  }

  private static String text(BodySize size) {
    return size.external() + " bytes of JSON and " + size.stored() + " of keys and values";
  }

  private void checkRow() {
    Optional<AllDocsRow> expected =
        document
            .winner()
            .filter(winner -> winner.isWinner() && !winner.deleted())
            .map(
                winner ->
                    new AllDocsRow(document.id(), winner.leaf(), winner.winner().branchCount()));
    if (!document.row().equals(expected)) {
      problems.add("all-docs has " + text(document.row()) + ", it should have " + text(expected));
    }
    boolean isDeleted = document.winner().filter(EditBranch::deleted).isPresent();
    if (document.isListedAsDeleted() != isDeleted) {
      problems.add(
          "it is "
              + (isDeleted ? "deleted and not" : "not deleted, but")
              + " among the deleted documents");
    }
  }

  private void checkValidation() {
    StoredDocument.Validation validation = document.validation();
    boolean validates =
        document
            .winner()
            .map(winner -> new StoredDocument.Leaf(winner.deleted(), winner.leaf()))
            .filter(leaf -> !leaf.deleted())
            .map(validation.leaves()::contains)
            .orElse(false);
    if (validates != validation.isListed()) {
      problems.add(
          "it is "
              + (validation.isListed() ? "" : "not ")
              + "among the validators, but its winner has "
              + (validates ? "a" : "no")
              + " validate_doc_update");
    }
  }

  private static String text(Optional<AllDocsRow> row) {
    return row.map(it -> it.winner() + " with " + it.branchCount() + " branches").orElse("no row");
  }
}
