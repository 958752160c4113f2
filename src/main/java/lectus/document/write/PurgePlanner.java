package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.PurgesSubspace;
import lectus.document.edit.PurgeEdit;
import lectus.error.LectusError;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * Plans the removal of leaves. All branches are read, with a conflict: an edit that comes in
 * between is seen or loses. If branches are left, the document gets a new place in the changes, as
 * in CouchDB.
 */
final class PurgePlanner implements DocumentPlanner {
  private final EditGroup edits;
  private final PurgeEdit edit;
  private final CompletableFuture<List<EditBranch>> branches;

  PurgePlanner(PlanningScope scope, EditGroup edits, PurgeEdit edit) {
    this.edits = edits;
    this.edit = edit;
    this.branches = scope.revisions().branches(scope.tx(), edit.id());
  }

  @Override
  public boolean readOn() {
    return false;
  }

  @Override
  public PlannedDocument plan() {
    List<EditBranch> stored = Awaiting.await(branches);
    List<EditBranch> gone = edit.leaves().among(stored);
    List<RevisionId> leaves = gone.stream().map(EditBranch::leaf).toList();
    if (PurgesSubspace.sizeOf(leaves) > PurgesSubspace.MOST_BYTES) {
      return PlannedDocument.failed(edits, tooMany());
    }
    EditOutcome outcome = new EditOutcome.Purged(edit.id(), leaves);
    return new PlannedDocument(
        edits,
        List.of(outcome),
        gone.isEmpty()
            ? Optional.empty()
            : Optional.of(
                DocumentUpdate.purging(
                    edit.id(), BranchUpdate.of(stored, gone, List.of()), leaves)));
  }

  private static LectusError tooMany() {
    return new LectusError.TooLarge(
        "too_large", "So many revisions of a document cannot be purged at once.");
  }
}
