package lectus.revision;

import java.util.Optional;
import lectus.database.Sequence;

/**
 * The part of the metadata that only a document's winning edit branch has (RFC 001). Every edit of
 * the document reads and writes it, so that concurrent edits conflict.
 *
 * @param sequence the sequence of the last transaction that modified the document, not necessarily
 *     the one that made this branch's leaf; null while that transaction is being written
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
