package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.document.edit.DocumentEdit;
import lectus.error.LectusError;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Reads;

/**
 * An edit that extends a live branch. The winning one: one key in one round trip. A losing one: the
 * branch, then the winner, since both may have to be written.
 */
final class ExtensionPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final DocumentEdits edits;
  private final DocumentEdit edit;
  private final RevisionId child;
  private final CompletableFuture<Optional<EditBranch>> base;
  private CompletableFuture<Optional<EditBranch>> winner;
  private CompletableFuture<Optional<EditBranch>> sameRevision;

  ExtensionPlanner(PlanningScope scope, DocumentEdits edits, DocumentEdit edit, RevisionId base) {
    this.scope = scope;
    this.edits = edits;
    this.edit = edit;
    this.child = scope.childOf(Optional.of(base), edit);
    this.base = scope.revisions().branch(scope.tx(), edit.id(), false, base);
  }

  @Override
  public void readOn() {
    Optional<EditBranch> found = Reads.await(base);
    if (found.isPresent() && !found.get().isWinner()) {
      winner = scope.revisions().winner(scope.tx(), edit.id());
      sameRevision = scope.revisions().branch(scope.tx(), edit.id(), false, child);
    }
  }

  @Override
  public PlannedDocument plan() {
    Optional<EditBranch> found = Reads.await(base);
    if (found.isEmpty()) {
      return PlannedDocument.failed(edits, new LectusError.Conflict());
    }
    EditBranch branch = found.get();
    if (sameRevision != null && Reads.await(sameRevision).isPresent()) {
      return scope.joined(edits, edit, branch, child);
    }
    List<EditBranch> known =
        branch.isWinner() ? List.of(branch) : List.of(branch, Reads.await(winner).orElseThrow());
    EditBranch leaf = scope.branchBelow(branch, child, edit);
    return scope.written(
        edits, edit, child, BranchUpdate.of(known, List.of(branch), List.of(leaf)));
  }
}
