package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.revision.EditBranch;
import lectus.store.Awaiting;

/**
 * Finds out whether the revision that an edit makes is a leaf of its document already. Equal edits
 * make equal revisions, so a replicator may have brought it without the history that ends in the
 * edit's base.
 *
 * <p>The branches that the edit reads anyway usually rule this out (RFC 001, the performance
 * profile): either they are all the branches that the winner counts, or the revision would sort
 * where no unread branch can be. Otherwise its key is read, too.
 */
final class SameRevision {
  private final PlanningScope scope;
  private final String id;
  private final EditBranch made;
  private boolean isRead;
  private CompletableFuture<Optional<EditBranch>> read;

  SameRevision(PlanningScope scope, String id, EditBranch made) {
    this.scope = scope;
    this.id = id;
    this.made = made;
  }

  /**
   * Searches the branches that were read, and starts reading the key if that does not decide.
   *
   * @param known the branches read, the winner among them
   * @param above of these, the one below which unread ones may be the one in question; empty if
   *     none may
   * @return whether a read was begun
   */
  boolean lookBeside(List<EditBranch> known, Optional<EditBranch> above) {
    isRead = known.stream().anyMatch(this::isMade);
    if (isRead || !mayBeUnread(known, above)) {
      return false;
    }
    read = scope.revisions().branch(scope.tx(), id, made.deleted(), made.leaf());
    return true;
  }

  boolean isThere() {
    return isRead || (read != null && Awaiting.await(read).isPresent());
  }

  private boolean isMade(EditBranch branch) {
    return branch.deleted() == made.deleted() && branch.leaf().equals(made.leaf());
  }

  private boolean mayBeUnread(List<EditBranch> known, Optional<EditBranch> above) {
    int branches =
        known.stream()
            .filter(EditBranch::isWinner)
            .mapToInt(branch -> branch.winner().branchCount())
            .findFirst()
            .orElseThrow();
    return branches > known.size() && above.isPresent() && above.get().beats(made);
  }
}
