package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.document.edit.InteractiveEdit;
import lectus.error.LectusError;
import lectus.revision.Ancestors;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * Plans an edit without a base: a new document, or one that continues the winning tombstone of a
 * deleted document. Reads one key in one round trip.
 */
final class InsertPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final EditGroup edits;
  private final InteractiveEdit edit;
  private final CompletableFuture<Optional<EditBranch>> winner;

  InsertPlanner(PlanningScope scope, EditGroup edits, InteractiveEdit edit) {
    this.scope = scope;
    this.edits = edits;
    this.edit = edit;
    this.winner = scope.revisions().winner(scope.tx(), edit.id());
  }

  @Override
  public boolean readOn() {
    // The winner alone decides.
    return false;
  }

  @Override
  public PlannedDocument plan() {
    Optional<EditBranch> found = Awaiting.await(winner);
    if (found.isEmpty()) {
      return first();
    }
    EditBranch tombstone = found.get();
    // As in CouchDB, a deletion without a base is allowed only as a document's first revision.
    return tombstone.deleted() && !edit.deleted()
        ? revived(tombstone)
        : PlannedDocument.failed(edits, new LectusError.Conflict());
  }

  private PlannedDocument first() {
    RevisionId revision = scope.childOf(Optional.empty(), edit);
    EditBranch leaf =
        new EditBranch(
            revision, edit.deleted(), Ancestors.NONE, scope.sizeOf(edit, revision), null);
    return scope.written(
        edits, edit, revision, BranchUpdate.of(List.of(), List.of(), List.of(leaf)));
  }

  private PlannedDocument revived(EditBranch tombstone) {
    RevisionId revision = scope.childOf(Optional.of(tombstone.leaf()), edit);
    List<EditBranch> replaced = List.of(tombstone);
    List<EditBranch> added = List.of(scope.branchBelow(tombstone, revision, edit));
    return scope.written(edits, edit, revision, BranchUpdate.of(replaced, replaced, added));
  }
}
