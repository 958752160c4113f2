package lectus.document.write;

import java.util.ArrayList;
import java.util.Comparator;
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
 * Plans revisions that were made elsewhere. Reads all branches of the document in one round trip,
 * unless the store knows at once that there are none.
 */
final class ReplicationPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final EditGroup edits;
  private final CompletableFuture<List<EditBranch>> branches;
  private final Map<Integer, Check> checks = new HashMap<>();
  private List<EditBranch> stored;
  private BranchMerge merge;

  ReplicationPlanner(PlanningScope scope, EditGroup edits) {
    this.scope = scope;
    this.edits = edits;
    this.branches = branches(scope, edits.id());
  }

  private static CompletableFuture<List<EditBranch>> branches(PlanningScope scope, String id) {
    if (scope.allDocs().isKnownNew(scope.tx(), id)) {
      scope.revisions().conflictWithEdits(scope.tx(), id);
      return CompletableFuture.completedFuture(List.of());
    }
    return scope.revisions().branches(scope.tx(), id);
  }

  @Override
  public boolean readOn() {
    if (merge != null) {
      return false;
    }
    stored = Awaiting.await(branches);
    merge = scope.merge(stored);
    boolean reads = false;
    for (int i = 0; i < edits.edits().size(); i++) {
      if (needsCheck((ReplicatedEdit) edits.edits().get(i))) {
        reads |= check(i).judgement().filter(Validation.Judgement::isReading).isPresent();
      }
    }
    return reads;
  }

  @Override
  public PlannedDocument plan() {
    Map<RevisionId, BodyRows> bodies = new HashMap<>();
    List<EditOutcome> outcomes = new ArrayList<>(edits.edits().size());
    for (int i = 0; i < edits.edits().size(); i++) {
      outcomes.add(take(i, bodies));
    }
    return new PlannedDocument(
        edits,
        outcomes,
        merge.update().map(update -> new DocumentUpdate(edits.id(), update, bodies)));
  }

  /**
   * As in CouchDB, a known revision is not checked again. But a history that it comes with may
   * replace leaves, for which its author needs the right.
   */
  private boolean needsCheck(ReplicatedEdit edit) {
    return !merge.knows(edit.path().leaf()) || merge.endsBranches(edit.path());
  }

  /** What is known of an edit before it is merged with those before it in the request. */
  private record Check(Optional<LectusError> problem, Optional<Validation.Judgement> judgement) {
    Optional<EditOutcome> outcome(Edit edit) {
      return problem
          .map(error -> EditFailures.of(edit, error))
          .or(() -> judgement.flatMap(Validation.Judgement::finish));
    }
  }

  /** Returns the same in all calls. The old document is a leaf as it is stored. */
  private Check check(int index) {
    return checks.computeIfAbsent(
        index,
        it -> {
          ReplicatedEdit edit = (ReplicatedEdit) edits.edits().get(it);
          Optional<LectusError> problem = scope.problem(edit);
          return new Check(problem, problem.isEmpty() ? judgement(it, edit) : Optional.empty());
        });
  }

  private Optional<Validation.Judgement> judgement(int index, ReplicatedEdit edit) {
    Optional<EditBranch> old =
        stored.stream()
            .filter(it -> edit.path().isAncestor(it.leaf()))
            .max(Comparator.comparingLong(it -> it.leaf().position()));
    return scope
        .validation()
        .flatMap(
            judge ->
                judge.begin(
                    edit,
                    edits.places().get(index),
                    edit.path().leaf(),
                    old,
                    stored.stream().findFirst().map(it -> it.winner().sequence())));
  }

  private Optional<LectusError> tooMany(RevisionPath path) {
    return merge.lacksRoomFor(path)
        ? Optional.of(
            new LectusError.TooLarge(
                "too_many_conflicts",
                "The document has as many conflicting revisions as it can have, at most "
                    + BranchMerge.MAX_LEAVES
                    + "; delete some."))
        : Optional.empty();
  }

  private EditOutcome take(int index, Map<RevisionId, BodyRows> bodies) {
    ReplicatedEdit edit = (ReplicatedEdit) edits.edits().get(index);
    RevisionPath path = edit.path();
    if (needsCheck(edit)) {
      Optional<EditOutcome> refused =
          check(index)
              .outcome(edit)
              .or(() -> tooMany(path).map(error -> EditFailures.of(edit, error)));
      if (refused.isPresent()) {
        return refused.get();
      }
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
