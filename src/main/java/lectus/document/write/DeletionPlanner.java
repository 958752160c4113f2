package lectus.document.write;

import java.util.ArrayList;
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
 * An edit that deletes a live branch. The winning one: it and the branch right before it, which may
 * win now, two keys in one round trip. A losing one: the winner as well, in a second.
 */
final class DeletionPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final DocumentEdits edits;
  private final DocumentEdit edit;
  private final RevisionId base;
  private final RevisionId child;
  private final CompletableFuture<List<EditBranch>> baseAndNext;

  /** The key of the new tombstone, which only a replicator can have written already. */
  private final CompletableFuture<Optional<EditBranch>> sameRevision;

  private CompletableFuture<Optional<EditBranch>> winner;

  DeletionPlanner(PlanningScope scope, DocumentEdits edits, DocumentEdit edit, RevisionId base) {
    this.scope = scope;
    this.edits = edits;
    this.edit = edit;
    this.base = base;
    this.child = scope.childOf(Optional.of(base), edit);
    this.baseAndNext = scope.revisions().withNextInLine(scope.tx(), edit.id(), base);
    this.sameRevision = scope.revisions().branch(scope.tx(), edit.id(), true, child);
  }

  @Override
  public void readOn() {
    List<EditBranch> found = Reads.await(baseAndNext);
    if (isBaseIn(found) && !found.get(0).isWinner()) {
      winner = scope.revisions().winner(scope.tx(), edit.id());
    }
  }

  @Override
  public PlannedDocument plan() {
    List<EditBranch> known = new ArrayList<>(Reads.await(baseAndNext));
    if (!isBaseIn(known)) {
      return PlannedDocument.failed(edits, new LectusError.Conflict());
    }
    EditBranch branch = known.get(0);
    if (Reads.await(sameRevision).isPresent()) {
      return scope.joined(edits, edit, branch, child);
    }
    if (winner != null) {
      known.add(Reads.await(winner).orElseThrow());
    }
    EditBranch tombstone = scope.branchBelow(branch, child, edit);
    return scope.written(
        edits, edit, child, BranchUpdate.of(known, List.of(branch), List.of(tombstone)));
  }

  private boolean isBaseIn(List<EditBranch> found) {
    return !found.isEmpty() && !found.get(0).deleted() && found.get(0).leaf().equals(base);
  }
}
