package lectus.revision;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * One edit branch of a document (RFC 001): a leaf and its known ancestors.
 *
 * @param body the size of the leaf's body
 * @param winner null on losing branches
 */
public record EditBranch(
    RevisionId leaf, boolean deleted, Ancestors ancestors, BodySize body, Winner winner) {

  /**
   * Sorts the winning branch first: live before deleted, then the higher position, then the higher
   * hash. The revisions subspace sorts in exactly the opposite order.
   */
  public static final Comparator<EditBranch> WINNER_FIRST =
      Comparator.comparing(EditBranch::deleted)
          .thenComparing(EditBranch::leaf, Comparator.reverseOrder());

  public boolean isWinner() {
    return winner != null;
  }

  /** Whether this branch would win over {@code other}. */
  public boolean beats(EditBranch other) {
    return WINNER_FIRST.compare(this, other) < 0;
  }

  /** Returns the number of revisions in the branch: the leaf and its known ancestors. */
  public int length() {
    return 1 + ancestors.count();
  }

  /** Returns the revisions, leaf first. */
  public List<RevisionId> path() {
    List<RevisionId> path = new ArrayList<>(length());
    path.add(leaf);
    for (RevisionHash hash : ancestors.toList()) {
      path.add(new RevisionId(leaf.position() - path.size(), hash));
    }
    return path;
  }

  /** Whether {@code revision} is the leaf or one of its known ancestors. */
  public boolean contains(RevisionId revision) {
    return revision.equals(leaf) || isAncestor(revision);
  }

  /** Whether {@code revision} is known to be an ancestor of the leaf. */
  public boolean isAncestor(RevisionId revision) {
    return ancestors.holds(revision.hash(), leaf.position() - revision.position() - 1);
  }

  /** Returns this branch as a losing one. */
  public EditBranch losing() {
    return winner == null ? this : new EditBranch(leaf, deleted, ancestors, body, null);
  }

  /** Returns this branch as the winner of the transaction being written. */
  public EditBranch winning(int branchCount, Optional<OtherLeaves> others) {
    return new EditBranch(leaf, deleted, ancestors, body, Winner.beingWritten(branchCount, others));
  }
}
