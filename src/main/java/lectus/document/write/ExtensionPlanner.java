package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.document.edit.InteractiveEdit;
import lectus.error.LectusError;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * An edit that extends a live branch. The winning one: one key in one round trip. A losing one: the
 * branch, then the winner, since both may have to be written; and rarely {@link SameRevision}.
 */
final class ExtensionPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final EditGroup edits;
  private final InteractiveEdit edit;
  private final RevisionId child;
  private final CompletableFuture<Optional<EditBranch>> base;
  private CompletableFuture<Optional<EditBranch>> winner;
  private EditBranch leaf;
  private SameRevision same;

  ExtensionPlanner(PlanningScope scope, EditGroup edits, InteractiveEdit edit, RevisionId base) {
    this.scope = scope;
    this.edits = edits;
    this.edit = edit;
    this.child = scope.childOf(Optional.of(base), edit);
    this.base = scope.revisions().branch(scope.tx(), edit.id(), false, base);
  }

  @Override
  public boolean readOn() {
    if (leaf == null) {
      return readWinner();
    }
    if (winner == null || same != null) {
      return false;
    }
    // A live leaf above its base lies anywhere below the winner.
    same = new SameRevision(scope, edit.id(), leaf);
    return same.lookBeside(known(), Awaiting.await(winner));
  }

  private boolean readWinner() {
    Optional<EditBranch> found = Awaiting.await(base);
    if (found.isEmpty()) {
      return false;
    }
    leaf = scope.branchBelow(found.get(), child, edit);
    if (found.get().isWinner()) {
      return false;
    }
    winner = scope.revisions().winner(scope.tx(), edit.id());
    return true;
  }

  @Override
  public PlannedDocument plan() {
    if (leaf == null) {
      return PlannedDocument.failed(edits, new LectusError.Conflict());
    }
    EditBranch branch = Awaiting.await(base).orElseThrow();
    if (same != null && same.isThere()) {
      return scope.joined(edits, edit, branch, child);
    }
    return scope.written(
        edits, edit, child, BranchUpdate.of(known(), List.of(branch), List.of(leaf)));
  }

  private List<EditBranch> known() {
    EditBranch branch = Awaiting.await(base).orElseThrow();
    return winner == null ? List.of(branch) : List.of(branch, Awaiting.await(winner).orElseThrow());
  }
}
