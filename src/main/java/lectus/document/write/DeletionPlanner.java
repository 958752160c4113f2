package lectus.document.write;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.document.edit.InteractiveEdit;
import lectus.error.LectusError;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * An edit that deletes a live branch. The winning one: it and the branch right before it, which may
 * win now, two keys in one round trip. A losing one: the winner as well, in a second. And rarely
 * {@link SameRevision}.
 */
final class DeletionPlanner implements DocumentPlanner {
  private final PlanningScope scope;
  private final EditGroup edits;
  private final InteractiveEdit edit;
  private final RevisionId base;
  private final RevisionId child;
  private final CompletableFuture<List<EditBranch>> baseAndNext;
  private CompletableFuture<Optional<EditBranch>> winner;
  private EditBranch tombstone;
  private SameRevision same;

  DeletionPlanner(PlanningScope scope, EditGroup edits, InteractiveEdit edit, RevisionId base) {
    this.scope = scope;
    this.edits = edits;
    this.edit = edit;
    this.base = base;
    this.child = scope.childOf(Optional.of(base), edit);
    this.baseAndNext = scope.revisions().withNextInLine(scope.tx(), edit.id(), base);
  }

  @Override
  public boolean readOn() {
    if (tombstone == null && isBaseFound()) {
      tombstone = scope.branchBelow(Awaiting.await(baseAndNext).get(0), child, edit);
      return readWinner() || readSame();
    }
    return tombstone != null && same == null && readSame();
  }

  private boolean readWinner() {
    if (Awaiting.await(baseAndNext).get(0).isWinner()) {
      return false;
    }
    winner = scope.revisions().winner(scope.tx(), edit.id());
    return true;
  }

  /** A tombstone lies below every live branch, so below the next in line, or nowhere. */
  private boolean readSame() {
    same = new SameRevision(scope, edit.id(), tombstone, known());
    return same.readBelow(Awaiting.await(baseAndNext).stream().skip(1).findFirst());
  }

  @Override
  public PlannedDocument plan() {
    return tombstone == null
        ? PlannedDocument.failed(edits, new LectusError.Conflict())
        : scope.followed(edits, edit, base, tombstone, same);
  }

  private List<EditBranch> known() {
    List<EditBranch> known = new ArrayList<>(Awaiting.await(baseAndNext));
    if (winner != null) {
      known.add(Awaiting.await(winner).orElseThrow());
    }
    return known;
  }

  private boolean isBaseFound() {
    List<EditBranch> found = Awaiting.await(baseAndNext);
    return !found.isEmpty() && !found.get(0).deleted() && found.get(0).leaf().equals(base);
  }
}
