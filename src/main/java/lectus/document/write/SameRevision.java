package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.Winner;
import lectus.store.Awaiting;

/**
 * Finds out whether the revision that an edit makes is a leaf of its document already. Equal edits
 * make equal revisions, so a replicator may have brought it without the history that ends in the
 * edit's base.
 *
 * <p>The branches that the edit reads anyway usually rule this out (RFC 001, the performance
 * profile): they are all that the winner counts, or the revision would sort where no unread branch
 * can be, or it is not among the leaves that the winner lists. Otherwise its key is read, too; or
 * all branches, if the winner could list them and does not, so that it will.
 */
final class SameRevision {
  private final PlanningScope scope;
  private final String id;
  private final EditBranch made;
  private final List<EditBranch> known;
  private CompletableFuture<Optional<EditBranch>> itself;
  private CompletableFuture<List<EditBranch>> all;

  /**
   * @param known the branches read, the winner among them
   */
  SameRevision(PlanningScope scope, String id, EditBranch made, List<EditBranch> known) {
    this.scope = scope;
    this.id = id;
    this.made = made;
    this.known = known;
  }

  /**
   * Starts to read what the known branches do not decide.
   *
   * @param above of these, the one below which unread ones may be the one in question; empty if
   *     none may
   * @return whether a read was begun
   */
  boolean readBelow(Optional<EditBranch> above) {
    Winner winner = known.stream().filter(EditBranch::isWinner).findFirst().orElseThrow().winner();
    boolean mayBeUnread =
        winner.branchCount() > known.size()
            && above.map(it -> it.beats(made)).orElse(false)
            && winner.mayHaveBeside(made.leaf())
            && known.stream().noneMatch(this::isMade);
    if (mayBeUnread && winner.couldList()) {
      all = scope.revisions().branches(scope.tx(), id);
    } else if (mayBeUnread) {
      itself = scope.revisions().branch(scope.tx(), id, made.deleted(), made.leaf());
    }
    return mayBeUnread;
  }

  boolean isThere() {
    return branches().stream().anyMatch(this::isMade)
        || (itself != null && Awaiting.await(itself).isPresent());
  }

  /** Returns all branches if they were read, and otherwise the known ones. */
  List<EditBranch> branches() {
    return all == null ? known : Awaiting.await(all);
  }

  private boolean isMade(EditBranch branch) {
    return branch.deleted() == made.deleted() && branch.leaf().equals(made.leaf());
  }
}
