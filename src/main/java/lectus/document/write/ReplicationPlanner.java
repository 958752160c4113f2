package lectus.document.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.document.BodyRows;
import lectus.document.edit.Edit;
import lectus.document.edit.ReplicatedEdit;
import lectus.error.LectusError;
import lectus.revision.BranchMerge;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.store.Awaiting;

/**
 * Plans revisions that were made elsewhere. Reads all branches of the document in one round trip.
 */
final class ReplicationPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final EditGroup edits;
  private final CompletableFuture<List<EditBranch>> branches;

  ReplicationPlanner(PlanningScope scope, EditGroup edits) {
    this.scope = scope;
    this.edits = edits;
    this.branches = scope.revisions().branches(scope.tx(), edits.id());
  }

  @Override
  public boolean readOn() {
    // All branches are being read already.
    return false;
  }

  @Override
  public PlannedDocument plan() {
    BranchMerge merge = scope.merge(Awaiting.await(branches));
    Map<RevisionId, BodyRows> bodies = new HashMap<>();
    List<EditOutcome> outcomes = new ArrayList<>(edits.edits().size());
    for (Edit edit : edits.edits()) {
      outcomes.add(take((ReplicatedEdit) edit, merge, bodies));
    }
    return new PlannedDocument(
        edits,
        outcomes,
        merge.update().map(update -> new DocumentUpdate(edits.id(), update, bodies)));
  }

  private static Optional<LectusError> tooMany(RevisionPath path, BranchMerge merge) {
    return merge.lacksRoomFor(path)
        ? Optional.of(
            new LectusError.TooLarge(
                "too_many_conflicts",
                "The document has as many conflicting revisions as it can have, at most "
                    + BranchMerge.MAX_LEAVES
                    + "; delete some."))
        : Optional.empty();
  }

  /**
   * As in CouchDB, a known revision is not checked again. But a history that it comes with may
   * replace leaves, for which its author needs the right.
   */
  private EditOutcome take(
      ReplicatedEdit edit, BranchMerge merge, Map<RevisionId, BodyRows> bodies) {
    RevisionPath path = edit.path();
    Optional<LectusError> problem =
        merge.knows(path.leaf()) && !merge.endsBranches(path)
            ? Optional.empty()
            : scope.problem(edit).or(() -> tooMany(path, merge));
    if (problem.isPresent()) {
      return EditFailures.of(edit, problem.get());
    }
    BodyRows rows = scope.rowsOf(edit, path.leaf());
    BranchMerge.Arrival arrival = merge.add(path, edit.deleted(), PlanningScope.sizeOf(edit, rows));
    if (arrival == BranchMerge.Arrival.NEW) {
      bodies.put(path.leaf(), rows);
    }
    return arrival == BranchMerge.Arrival.KNOWN
        ? new EditOutcome.Unchanged(edit.id(), path.leaf())
        : new EditOutcome.Written(edit.id(), path.leaf());
  }
}
