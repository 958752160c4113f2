package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.document.edit.InteractiveEdit;
import lectus.error.LectusError;
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
  private final RevisionId base;
  private final CompletableFuture<Optional<EditBranch>> branch;
  private CompletableFuture<Optional<EditBranch>> winner;
  private EditBranch leaf;
  private SameRevision same;

  ExtensionPlanner(PlanningScope scope, EditGroup edits, InteractiveEdit edit, RevisionId base) {
    this.scope = scope;
    this.edits = edits;
    this.edit = edit;
    this.base = base;
    this.child = scope.childOf(Optional.of(base), edit);
    this.branch = scope.revisions().branch(scope.tx(), edit.id(), false, base);
  }

  @Override
  public boolean readOn() {
    if (leaf == null && Awaiting.await(branch).isPresent()) {
      leaf = scope.branchBelow(Awaiting.await(branch).get(), child, edit);
      return readWinner() || readSame();
    }
    return leaf != null && same == null && readSame();
  }

  private boolean readWinner() {
    if (Awaiting.await(branch).orElseThrow().isWinner()) {
      return false;
    }
    winner = scope.revisions().winner(scope.tx(), edit.id());
    return true;
  }

  /** A live leaf above its base lies anywhere below the winner, or nowhere if that is the base. */
  private boolean readSame() {
    same = new SameRevision(scope, edit.id(), leaf, known());
    return winner != null && same.readBelow(Awaiting.await(winner));
  }

  @Override
  public PlannedDocument plan() {
    return leaf == null
        ? PlannedDocument.failed(edits, new LectusError.Conflict())
        : scope.followed(edits, edit, base, leaf, same);
  }

  private List<EditBranch> known() {
    EditBranch extended = Awaiting.await(branch).orElseThrow();
    return winner == null
        ? List.of(extended)
        : List.of(extended, Awaiting.await(winner).orElseThrow());
  }
}
