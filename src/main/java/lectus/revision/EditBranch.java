package lectus.revision;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import lectus.database.Sequence;

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

  public EditBranch losing() {
    return winner == null ? this : new EditBranch(leaf, deleted, ancestors, body, null);
  }

  /** Returns this branch as the winner of the transaction being written. */
  public EditBranch winning(int branchCount, Optional<OtherLeaves> others) {
    return new EditBranch(leaf, deleted, ancestors, body, Winner.beingWritten(branchCount, others));
  }

  /** Returns this branch as the winner of a document that was last written at a sequence. */
  public EditBranch winningAt(Sequence sequence, int branchCount, Optional<OtherLeaves> others) {
    return new EditBranch(
        leaf, deleted, ancestors, body, new Winner(sequence, branchCount, others));
  }

  /** Returns this branch without its ancestors, which may take more memory than all else. */
  public EditBranch withoutHistory() {
    return new EditBranch(leaf, deleted, Ancestors.NONE, body, winner);
  }

  /**
   * The size of a leaf's body. It is stored with the leaf's revision, so that an edit that replaces
   * the leaf keeps the database's sizes exact without another read.
   *
   * @param external size of the body as JSON and of its attachments, in bytes
   * @param stored size of the keys and values that hold the body, in bytes; 0 if it has none, like
   *     a plain tombstone
   * @param attachments how many it has
   */
  public record BodySize(long external, long stored, int attachments) {
    public static final BodySize NONE = new BodySize(0, 0);

    /** The size of a body without attachments. */
    public BodySize(long external, long stored) {
      this(external, stored, 0);
    }

    /** Whether the documents subspace holds anything for the body. */
    public boolean isStored() {
      return stored > 0;
    }

    public boolean hasAttachments() {
      return attachments > 0;
    }
  }

  /**
   * The part of the metadata that only a document's winning edit branch has (RFC 001). Every edit
   * of the document reads and writes it, so that concurrent edits conflict.
   *
   * @param sequence the sequence of the last transaction that modified the document, not
   *     necessarily the one that made this branch's leaf; null while that transaction is being
   *     written
   * @param branchCount number of the document's edit branches, deleted ones included
   * @param others the leaves of the other branches; empty if they are not listed
   */
  public record Winner(Sequence sequence, int branchCount, Optional<OtherLeaves> others) {
    public Winner {
      if (branchCount < 1) {
        throw new IllegalArgumentException("A document has at least one edit branch");
      }
    }

    /**
     * Returns the winner for the transaction being written; the store fills in the sequence when it
     * commits.
     */
    static Winner beingWritten(int branchCount, Optional<OtherLeaves> others) {
      return new Winner(null, branchCount, others);
    }

    /** Whether the revision may be the leaf of another branch; if not, it is none. */
    public boolean mayHaveBeside(RevisionId leaf) {
      return branchCount > 1 && others.map(it -> it.mayHave(leaf)).orElse(true);
    }

    /** Whether the other leaves are not listed, although they are few enough. */
    public boolean couldList() {
      return others.isEmpty() && branchCount - 1 <= OtherLeaves.MOST;
    }
  }
}
